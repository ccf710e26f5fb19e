#![no_main]

use threadwise_import::Settings;
use threadwise_import::from_c::{DataModel, Integers, Reading, from_c};
use threadwise_lang::print::print;

// Whatever the text, the front end gives a model that is accepted when it is printed, or says why not.
libfuzzer_sys::fuzz_target!(|text: &str| {
    for (integers, data_model) in [
        (Integers::Mathematical, DataModel::Lp64),
        (Integers::Machine, DataModel::Ilp32),
    ] {
        let reading = Reading {
            integers,
            data_model,
        };
        let mut include = |name: &str| Err(format!("{name} is not there"));
        let mut settings = Settings {
            defines: Vec::new(),
            include: &mut include,
        };
        let outcome = from_c("fuzz.c", text, reading, &mut settings);
        match outcome.result {
            Ok(imported) => {
                let text = print(&imported.program, &imported.layout);
                assert!(threadwise_lang::check(&text).program.is_some());
            }
            Err(remarks) => {
                assert!(!remarks.is_empty());
                for remark in remarks {
                    assert!(
                        !remark.diagnostic.message.contains("internal error"),
                        "{}",
                        remark.diagnostic.message
                    );
                    let length = outcome.files[remark.file].text.len();
                    assert!(remark.diagnostic.span.end as usize <= length);
                }
            }
        }
    }
});

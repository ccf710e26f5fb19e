#![no_main]

use threadwise_import::Settings;
use threadwise_import::from_promela::from_promela;
use threadwise_lang::print::print;

libfuzzer_sys::fuzz_target!(|text: &str| {
    // One file can be included, so that directives inside it are reached too.
    let mut include = |name: &str| match name {
        "a.h" => Ok("#define TWO 2\nbyte included\n".to_string()),
        _ => Err("there is no such file".to_string()),
    };
    let defines = vec![("GIVEN".to_string(), "1".to_string())];
    let outcome = from_promela(
        "fuzz.pml",
        text,
        &mut Settings {
            defines,
            include: &mut include,
        },
    );
    let remarks = match outcome.result {
        Ok(imported) => {
            let text = print(&imported.program, &imported.layout);
            assert!(
                threadwise_lang::check(&text).program.is_some(),
                "a model that is not accepted"
            );
            imported.notes
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a message");
            errors
        }
    };
    for remark in remarks {
        let span = remark.diagnostic.span;
        let text = &outcome.files[remark.file].text;
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "a place outside its file"
        );
    }
});

//! What a registry asks of every crate, and the placeholder for where the repository is.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The crates of the workspace, as cargo reads their manifests.
fn crates() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .args(["--offline", "--locked", "--manifest-path"])
        .arg(format!("{ROOT}/Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// An empty list of registries: never published.
fn published(package: &Value) -> bool {
    package["publish"] != Value::Array(Vec::new())
}

fn folder(package: &Value) -> PathBuf {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    manifest.parent().unwrap().to_owned()
}

fn length(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

#[test]
fn every_crate_can_be_published_but_those_for_tests() {
    let crates = crates();
    let kept: Vec<&Value> = crates.iter().filter(|p| !published(p)).collect();
    let kept: Vec<&str> = kept.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(kept, ["threadwise-testgen"]);
    for package in crates.iter().filter(|p| published(p)) {
        let name = &package["name"];
        for key in ["description", "license", "repository", "readme"] {
            assert!(
                package[key].as_str().is_some_and(|text| !text.is_empty()),
                "{name}: no {key}"
            );
        }
        assert!((1..=5).contains(&length(&package["keywords"])), "{name}");
        assert!((1..=5).contains(&length(&package["categories"])), "{name}");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = std::fs::read(folder(package).join(licence)).unwrap();
            let ours = std::fs::read(Path::new(ROOT).join(licence)).unwrap();
            assert_eq!(own, ours, "{name}: {licence}");
        }
        // What is built names its version, what is only for tests is found by its path: a registry needs the one and drops the other.
        let version = format!("^{}", package["version"].as_str().unwrap());
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            if used.starts_with("threadwise") {
                let wanted = if dependency["kind"] == "dev" {
                    "*"
                } else {
                    &version
                };
                assert_eq!(dependency["req"], *wanted, "{name} uses {used}");
                assert!(dependency["path"].is_string(), "{name} uses {used}");
            }
        }
    }
}

/// A file that is compiled into a crate is inside of its folder, so that it is inside of its package, too.
#[test]
fn no_source_includes_a_file_from_outside_of_its_package() {
    for package in crates().iter().filter(|p| published(p)) {
        let source = folder(package).join("src").canonicalize().unwrap();
        let mut open = vec![source.clone()];
        while let Some(path) = open.pop() {
            // Tests are no part of a package.
            if path.ends_with("tests") || path.ends_with("tests.rs") {
                continue;
            }
            if path.is_dir() {
                open.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for included in ["include_str!(\"", "include_bytes!(\"", "include!(\""] {
                for rest in text.split(included).skip(1) {
                    let file = path.with_file_name(rest.split('"').next().unwrap());
                    let file = file.canonicalize().unwrap();
                    assert!(file.starts_with(&source), "{}", path.display());
                }
            }
        }
    }
}

/// Where the repository is stands once, in the manifest of the workspace.
#[test]
fn the_repository_stands_in_one_place() {
    let crates = crates();
    let published: Vec<&Value> = crates.iter().filter(|p| published(p)).collect();
    let repository = published[0]["repository"].as_str().unwrap();
    for package in &published {
        assert_eq!(package["repository"], repository, "{}", package["name"]);
    }
    let mut places = Vec::new();
    let mut open = vec![PathBuf::from(ROOT)];
    while let Some(path) = open.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if ["target", ".git", "node_modules"].contains(&name.as_ref()) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for _ in text.matches(repository) {
            places.push(path.strip_prefix(ROOT).unwrap().to_owned());
        }
    }
    assert_eq!(places, [Path::new("Cargo.toml")]);
}

/// The extension is released together with the program.
#[test]
fn the_extension_has_the_version_of_the_program() {
    for file in ["package.json", "package-lock.json"] {
        let text = std::fs::read_to_string(format!("{ROOT}/editors/vscode/{file}")).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["version"], env!("CARGO_PKG_VERSION"), "{file}");
    }
}

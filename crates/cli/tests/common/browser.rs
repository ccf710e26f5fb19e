//! A real browser, driven over its debugging pipe: messages of the DevTools protocol on two file descriptors, so that neither a
//! port nor a library for web sockets is needed.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a page may take for anything that is asked of it.
const PATIENCE: Duration = super::PATIENCE;

/// Where a browser is, if there is one. Without it these tests have nothing to run, and say so; CI installs one.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        println!("no browser (chromium) is there: the test is left out");
    }
    found
}

/// A page in a browser.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    next: u64,
    session: String,
    /// Errors and warnings that the page caused.
    pub complaints: Vec<String>,
    /// Requests that the page made, its own address aside.
    pub requests: Vec<String>,
    waiting: VecDeque<Value>,
    _profile: super::Place,
}

impl Browser {
    /// Starts a browser with a window of this size.
    pub fn start(program: &Path, width: u32, height: u32) -> Browser {
        let profile = super::Place::new();
        // The pipe is on the descriptors 3 and 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--remote-debugging-pipe", "--hide-scrollbars"])
            .args(["--disable-extensions", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--force-prefers-reduced-motion"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let output = child.stdout.take().unwrap();
        let (send, messages) = mpsc::channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while matches!(output.read_until(0, &mut message), Ok(length) if length > 0) {
                message.pop();
                let value = serde_json::from_slice(&message).expect("the protocol is JSON");
                if send.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            commands,
            messages,
            next: 0,
            session: String::new(),
            complaints: Vec::new(),
            requests: Vec::new(),
            waiting: VecDeque::new(),
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width, height, false);
        browser
    }

    /// Makes the window another size; `phone` for one that is touched.
    pub fn resize(&mut self, width: u32, height: u32, phone: bool) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// Prefers light or dark colours.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", features);
    }

    fn receive(&mut self) -> Value {
        let message = self
            .messages
            .recv_timeout(PATIENCE)
            .expect("the browser answers");
        let params = &message["params"];
        let bad = |level: &Value| matches!(level.as_str(), Some("error" | "warning" | "assert"));
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(params["exceptionDetails"].to_string());
            }
            Some("Runtime.consoleAPICalled") if bad(&params["type"]) => {
                self.complaints.push(params["args"].to_string());
            }
            Some("Log.entryAdded") if bad(&params["entry"]["level"]) => {
                self.complaints.push(params["entry"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_owned());
            }
            _ => {}
        }
        message
    }

    /// Sends a command and waits for the answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        self.commands.flush().unwrap();
        loop {
            let answer = self.receive();
            if answer["id"] == json!(id) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            if answer["method"].is_string() {
                self.waiting.push_back(answer);
            }
        }
    }

    /// Goes to an address and waits until the page is there.
    pub fn go(&mut self, url: &str) {
        self.waiting.clear();
        let went = self.ask("Page.navigate", json!({ "url": url }));
        assert!(went["errorText"].is_null(), "{url}: {}", went["errorText"]);
        // Within a page there is no event for it.
        if went["loaderId"].is_null() {
            return;
        }
        let loaded = |message: &Value| message["method"] == "Page.loadEventFired";
        while !self.waiting.iter().any(loaded) {
            let message = self.receive();
            self.waiting.push_back(message);
        }
    }

    /// Goes to a file.
    pub fn open(&mut self, path: &Path) {
        self.go(&format!("file://{}", path.display()));
    }

    /// The value of an expression in the page.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", params);
        let exception = &answer["exceptionDetails"];
        assert!(exception.is_null(), "{expression}: {exception}");
        answer["result"]["value"].clone()
    }

    /// The text of the first element that fits a selector.
    pub fn text(&mut self, selector: &str) -> String {
        let found = self.eval(&format!(
            "document.querySelector({})?.innerText ?? null",
            json!(selector)
        ));
        let text = found.as_str();
        text.unwrap_or_else(|| panic!("there is no {selector}"))
            .to_owned()
    }

    /// How many elements fit a selector.
    pub fn count(&mut self, selector: &str) -> u64 {
        let number = format!("document.querySelectorAll({}).length", json!(selector));
        self.eval(&number).as_u64().unwrap()
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let begin = Instant::now();
        while self.eval(&format!("Boolean({expression})")) != json!(true) {
            assert!(begin.elapsed() < PATIENCE, "never: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks with the mouse in the middle of the first element that fits a selector.
    pub fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const node = document.querySelector({}); if (!node) return null; node.scrollIntoView({{ block: 'center' }}); \
             const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        assert!(!place.is_null(), "there is no {selector}");
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", params);
        }
    }

    /// Presses a key: `ArrowDown`, `j`, `?`.
    pub fn key(&mut self, key: &str) {
        let code = match key {
            "ArrowDown" => 40,
            "ArrowUp" => 38,
            "PageDown" => 34,
            "PageUp" => 33,
            "Home" => 36,
            "End" => 35,
            "Enter" => 13,
            "Backspace" => 8,
            "Tab" => 9,
            "Escape" => 27,
            other => other.to_uppercase().bytes().next().map_or(0, u32::from),
        };
        let mut down = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        match key {
            "Enter" => down["text"] = json!("\r"),
            key if key.chars().count() == 1 => down["text"] = json!(key),
            _ => {}
        }
        self.ask("Input.dispatchKeyEvent", down);
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.ask("Input.dispatchKeyEvent", up);
    }

    /// Types text where the focus is.
    pub fn type_text(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// A picture of the window as PNG.
    pub fn screenshot(&mut self) -> Vec<u8> {
        let answer = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        base64(answer["data"].as_str().unwrap())
    }

    /// Nothing went wrong in the page, and it loaded nothing but itself.
    pub fn assert_quiet(&mut self) {
        self.eval("1");
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other} in base64"),
    };
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| *byte != b'=')
        .map(value)
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for position in 0..4 {
            bits = bits << 6 | u32::from(group.get(position).copied().unwrap_or(0));
        }
        let whole = bits.to_be_bytes();
        bytes.extend(&whole[1..group.len()]);
    }
    bytes
}

//! Texts that want to be more than text, and a look at pages that finds whether one is.

use std::collections::BTreeSet;

const PAYLOADS: [&str; 34] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe src=javascript:alert(1)>",
    "<object data=data:text/html,x>",
    "<embed src=//evil.example>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=//evil.example><button>x</button></form>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example>",
    "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    "<video><source onerror=alert(1)></video>",
    "<body onload=alert(1)>",
    "<b style=position:fixed>x</b>",
    "<!-- comment --><b>x</b>",
    "<![CDATA[<script>alert(1)</script>]]",
    "<template><img src=x onerror=alert(1)></template>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<textarea></textarea><script>alert(1)</script>",
    "<x onclick=alert(1)>x",
    "<IMG SRC=&#106;avascript:alert(1)>",
    "<button formaction=javascript:alert(1)>x",
    "<audio src=//evil.example autoplay>",
    "<marquee onstart=alert(1)>",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "<https://evil.example/autolink>",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "&lt;script&gt;alert(1)&lt;/script&gt; & &amp; &#60;b&#62;",
];

/// How a text may try to leave the place where it stands.
const PREFIXES: [&str; 7] = ["", "\">", "'>", "</title>", "</pre></textarea>", "-->", "` onmouseover=alert(1) "];

pub(crate) fn corpus() -> Vec<String> {
    let all = PREFIXES.iter().flat_map(|prefix| PAYLOADS.iter().map(move |payload| format!("{prefix}{payload}")));
    all.collect()
}

/// A text as a page has to show it.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// All elements that the pages are made of, and what Markdown becomes.
const ELEMENTS: &str = "!doctype html head meta title link script body a header svg path nav div span form button main p dialog h1 h2 h3 h4 h5 h6 dl dt dd \
     kbd section article details summary ol ul li i b code pre time label textarea input table tbody thead tr td th mark aside g rect circle text strong em \
     blockquote br hr del";
const ATTRIBUTES: &str = "lang charset name content http-equiv rel href type src class id action method hidden role aria-label aria-current aria-hidden \
     aria-labelledby viewbox width height focusable d fill stroke stroke-width stroke-linecap stroke-linejoin opacity cx cy r x y rx transform title \
     datetime value for rows maxlength placeholder autocomplete open tabindex start checked disabled align download";

/// Fails where a page has an element or an attribute that Helix's pages are not made of, or an address that leads elsewhere.
pub(crate) fn is_clean(path: &str, page: &str) {
    let words = |list: &'static str| list.split_whitespace().collect::<BTreeSet<_>>();
    let (elements, attributes) = (words(ELEMENTS), words(ATTRIBUTES));
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let shown: String = rest.chars().take(120).collect();
        rest = rest.strip_prefix('/').unwrap_or(rest);
        let end = rest.find(|letter: char| letter.is_whitespace() || letter == '>').unwrap_or(rest.len());
        let element = rest[..end].to_lowercase();
        assert!(elements.contains(element.as_str()), "{path}: <{element}> in <{shown}");
        rest = &rest[end..];
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = rest
                .find(|letter: char| letter.is_whitespace() || letter == '>' || letter == '=')
                .unwrap_or(rest.len());
            assert!(end > 0, "{path}: <{shown}");
            let name = rest[..end].to_lowercase();
            let is_known = attributes.contains(name.as_str())
                || name.starts_with("data-")
                || (element == "!doctype" && name == "html");
            assert!(is_known, "{path}: {name} in <{shown}");
            rest = &rest[end..];
            let Some(value) = rest.strip_prefix("=\"") else { continue };
            let end = value.find('"').unwrap_or(value.len());
            let (value, after) = value.split_at(end);
            rest = &after[1..];
            let leads = ["href", "src", "action"].contains(&name.as_str());
            // What a decision links to may be a page elsewhere, and says so.
            let is_outside = value.starts_with("https://evil.example/") && shown.contains("nofollow");
            assert!(
                !leads || value.starts_with(['/', '?', '#']) && !value.starts_with("//") || is_outside,
                "{path}: {name}={value}"
            );
        }
    }
}

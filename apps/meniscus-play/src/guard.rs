//! Who is let in: only pages of this server, and only with the token.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// What tells own pages from others.
pub struct Guard {
    hosts: [String; 2],
    token: String,
    policy: HeaderValue,
}

impl Guard {
    /// Of a server on a port.
    pub fn new(port: u16, token: &str) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}"));
        let sockets = hosts.each_ref().map(|host| format!("ws://{host}")).join(" ");
        let policy = format!(
            "default-src 'self'; connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        Self { hosts, token: token.into(), policy: policy.parse().expect("plain letters") }
    }

    /// Whether a request is answered. Its host must be this one, whatever name led here (or pages of others could rebind theirs); a page that sends it must be ours; and but for the
    /// files of the page, which hold no secrets, it must have the token: as `Authorization: Bearer`, or in the query of a WebSocket, which takes no headers.
    pub fn admits(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        is_page: bool,
    ) -> Result<(), &'static str> {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        if !text(header::HOST).is_some_and(is_own) {
            return Err("this is not the name of this server");
        }
        let is_foreign = |origin: &str| !origin.strip_prefix("http://").is_some_and(is_own);
        if text(header::ORIGIN).is_some_and(is_foreign) {
            return Err("another page has no business here");
        }
        if is_page {
            return Ok(());
        }
        let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let in_query = || query?.split('&').find_map(|pair| pair.strip_prefix("token="));
        if bearer.or_else(in_query).is_some_and(|token| self.is_token(token)) {
            Ok(())
        } else {
            Err("the token is missing or wrong: open the address that the command printed")
        }
    }

    /// Takes as long whatever part of it is right.
    fn is_token(&self, token: &str) -> bool {
        let differences = token.bytes().zip(self.token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        token.len() == self.token.len() && differences == 0
    }

    /// What browsers are told to refuse.
    pub fn headers(&self) -> [(HeaderName, HeaderValue); 5] {
        [
            (header::CONTENT_SECURITY_POLICY, self.policy.clone()),
            (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                HeaderValue::from_static("same-origin"),
            ),
        ]
    }
}

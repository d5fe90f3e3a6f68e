use super::{SimpleType, plain_text};

impl SimpleType for String {
    const NAME: &'static str = "xs:string";

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Ok(text.to_owned())
    }

    #[inline]
    fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
        plain_text(input, at).map(|(text, end)| (text.to_owned(), end))
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> bool {
        castile_xml::escape::push_text(out, self).is_ok()
    }
}

impl SimpleType for bool {
    const NAME: &'static str = "xs:boolean";

    fn parse(text: &str) -> Result<Self, Option<String>> {
        match super::collapse(text) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(None),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
        true
    }
}

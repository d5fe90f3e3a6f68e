use crate::error::Error;
use crate::from_xml::Decoder;
use crate::model::Order;
use crate::schema::First;
use crate::to_xml::Encoder;

/// A model group with a generated type: a choice, or a sequence inside another group.
pub trait Group: Sized {
    /// The elements that it may begin with.
    const FIRST: &'static [First];
    /// All elements that it may contain, if it can't begin with each of them. Only a lenient decoder uses this.
    const ALL: &'static [First] = Self::FIRST;
    /// The default namespace that its tags need. Set for types of a program.
    #[doc(hidden)]
    const NAMESPACE: Option<&'static str> = None;

    /// Reads a group, or returns `None` if the next element doesn't begin one.
    ///
    /// # Errors
    /// The group is invalid.
    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error>;

    /// Writes all its elements.
    fn write(&self, out: &mut Encoder);
}

/// A piece of mixed content: an element or text.
pub trait Mixed: Group {
    /// Returns the order of the elements; `None` if any order is allowed.
    fn order() -> Option<&'static Order> {
        None
    }

    /// Creates a piece of text.
    fn text(text: String) -> Self;
}

const _: () = assert!(size_of::<ParagraphContent>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<Paragraph>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Note>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<LetterContent>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<Letter>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Value>() <= 96 && 96 <= 1024);

const _: () = assert!(size_of::<Size>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Color>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Small>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<SizeOrNumber>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Kind>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Value>() <= 168 && 168 <= 1024);

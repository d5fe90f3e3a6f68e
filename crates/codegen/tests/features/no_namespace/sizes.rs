const _: () = assert!(size_of::<Mixed>() <= 8 && 8 <= 1024);
const _: () = assert!(size_of::<no_namespace::Value>() <= 16 && 16 <= 1024);

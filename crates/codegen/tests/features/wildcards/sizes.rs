const _: () = assert!(size_of::<Extensible>() <= 72 && 72 <= 1024);
const _: () = assert!(size_of::<ValueChoice>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<Ambiguous>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<Value>() <= 344 && 344 <= 1024);

const _: () = assert!(size_of::<Extensible>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<ValueChoice>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<Ambiguous>() <= 80 && 80 <= 1024);
const _: () = assert!(size_of::<Value>() <= 368 && 368 <= 1024);

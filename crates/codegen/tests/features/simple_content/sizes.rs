const _: () = assert!(size_of::<Plain>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Name>() <= 88 && 88 <= 1024);
const _: () = assert!(size_of::<Value>() <= 112 && 112 <= 1024);

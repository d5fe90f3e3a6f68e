const _: () = assert!(size_of::<Part>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Value>() <= 104 && 104 <= 1024);

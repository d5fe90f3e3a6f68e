const _: () = assert!(size_of::<Value>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<Session>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<OthersHeader>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<LeftHeader>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<EchoFault>() <= 32 && 32 <= 1024);

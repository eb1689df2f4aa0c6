namespace Rookery.Json;

/// <summary>Reasons to refuse input. Names are part of the answer, so they are never changed.</summary>
public enum InputErrorCode : byte
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary>The input ends inside a value.</summary>
    UnexpectedEnd,

    /// <summary>A character that JSON does not allow here.</summary>
    UnexpectedCharacter,

    /// <summary>Bytes after the end of the value.</summary>
    TrailingData,

    /// <summary>A raw control character inside a string.</summary>
    ControlCharacterInString,

    /// <summary>A backslash followed by something that is no escape of JSON.</summary>
    InvalidEscape,

    /// <summary>A \u escape that is half of a surrogate pair: no such character exists.</summary>
    LoneSurrogate,

    /// <summary>A number that is not written as JSON writes numbers.</summary>
    InvalidNumber,

    /// <summary>Bytes that are not UTF-8.</summary>
    InvalidUtf8,

    /// <summary>One object names a key twice.</summary>
    DuplicateKey,

    /// <summary>More than 128 levels.</summary>
    TooDeep,

    /// <summary>A document over 8 MiB.</summary>
    DocumentTooLarge,

    /// <summary>A batch over the limit.</summary>
    BatchTooLarge,

    /// <summary>A document must be an object.</summary>
    NotAnObject,

    /// <summary>A member of the wrong JSON type.</summary>
    WrongType,

    /// <summary>A member that must be there is missing.</summary>
    MissingMember,

    /// <summary>Text that should be a date is none.</summary>
    InvalidDate,

    /// <summary>A document id that cannot be used.</summary>
    InvalidId,

    /// <summary>A collection name that cannot be used.</summary>
    InvalidCollection,

    /// <summary>An idempotency key that is empty or too long.</summary>
    InvalidIdempotencyKey,

    /// <summary>A patch that cannot be read.</summary>
    InvalidPatch,

    /// <summary>A feature this server does not have; the text names it.</summary>
    NotSupported,
}

namespace Rookery.Json;

/// <summary>Reasons to reject input. Their names are part of the HTTP API and never change.</summary>
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

    /// <summary>A backslash that does not start a JSON escape.</summary>
    InvalidEscape,

    /// <summary>A \u escape that is half of a surrogate pair, which is not a character.</summary>
    LoneSurrogate,

    /// <summary>A number that does not follow JSON's grammar.</summary>
    InvalidNumber,

    /// <summary>Bytes that are not UTF-8.</summary>
    InvalidUtf8,

    /// <summary>A key that an object has twice.</summary>
    DuplicateKey,

    /// <summary>More than 128 levels.</summary>
    TooDeep,

    /// <summary>A document over 8 MiB.</summary>
    DocumentTooLarge,

    /// <summary>A batch over its limit of bytes or commands.</summary>
    BatchTooLarge,

    /// <summary>A document that is not an object.</summary>
    NotAnObject,

    /// <summary>A member of the wrong JSON type.</summary>
    WrongType,

    /// <summary>A required member is missing.</summary>
    MissingMember,

    /// <summary>A text that should be a date is not one.</summary>
    InvalidDate,

    /// <summary>A document id that cannot be used.</summary>
    InvalidId,

    /// <summary>A collection name that cannot be used.</summary>
    InvalidCollection,

    /// <summary>An idempotency key that is empty or too long.</summary>
    InvalidIdempotencyKey,

    /// <summary>A patch that cannot be read.</summary>
    InvalidPatch,

    /// <summary>A feature that this server does not have; the message names it.</summary>
    NotSupported,

    /// <summary>Another value where an object is required.</summary>
    ObjectRequired,

    /// <summary>Another value where an array is required.</summary>
    ArrayRequired,

    /// <summary>Another value where a string is required.</summary>
    StringRequired,

    /// <summary>A key that is too long for a compare-exchange value.</summary>
    KeyTooLong,
}

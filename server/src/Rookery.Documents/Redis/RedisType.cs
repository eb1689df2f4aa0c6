namespace Rookery.Documents.Redis;

/// <summary>The type of a key's value.</summary>
internal enum RedisType : byte
{
    /// <summary>There is no value.</summary>
    None,

    /// <summary>Bytes: <c>{"Value":"…"}</c> for text, <c>{"Base64":"…"}</c> for other bytes.</summary>
    String,

    /// <summary>The top-level members of the document.</summary>
    Hash,

    /// <summary>Different strings: <c>{"Set":[…]}</c>.</summary>
    Set,

    /// <summary>Strings in order: <c>{"List":[…]}</c>.</summary>
    List,

    /// <summary>JSON: the document itself if it is an object, otherwise <c>{"Json":…}</c>.</summary>
    Json,
}

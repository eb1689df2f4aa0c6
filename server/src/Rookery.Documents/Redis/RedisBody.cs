using System.Buffers.Text;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>
/// Reads the values of Redis in documents. A document that a client of HTTP wrote has no type in its metadata: its form
/// tells the type, so it is a value of Redis, too.
/// </summary>
internal static class RedisBody
{
    public static ReadOnlySpan<byte> TypeMember => "@redis"u8;

    public static ReadOnlySpan<byte> ValueMember => "Value"u8;

    public static ReadOnlySpan<byte> Base64Member => "Base64"u8;

    public static ReadOnlySpan<byte> SetMember => "Set"u8;

    public static ReadOnlySpan<byte> ListMember => "List"u8;

    public static ReadOnlySpan<byte> JsonMember => "Json"u8;

    private static ReadOnlySpan<byte> PlainStart => "\"Value\":\""u8;

    private static ReadOnlySpan<byte> PlainMetadata => "\"@redis\":\"string\""u8;

    /// <summary>Returns the name of a type as TYPE answers it, and as the metadata contains it.</summary>
    public static ReadOnlySpan<byte> NameOf(RedisType type) =>
        type switch
        {
            RedisType.String => "string"u8,
            RedisType.Hash => "hash"u8,
            RedisType.Set => "set"u8,
            RedisType.List => "list"u8,
            RedisType.Json => "json"u8,
            _ => "none"u8,
        };

    /// <summary>Returns the type of a document.</summary>
    public static RedisType TypeOf(scoped in DocumentView document) =>
        TryReadType(document, out var declared) ? declared : FormOf(document.Body);

    /// <summary>Reads the type from the metadata. False if only the body of the document tells the type.</summary>
    public static bool TryReadType(scoped in DocumentView head, out RedisType type)
    {
        type = ReadDeclared(head.Metadata);
        return type is RedisType.Hash or RedisType.Json;
    }

    /// <summary>Reads a string.</summary>
    /// <param name="document">The document.</param>
    /// <param name="scratch">Receives the value if it must be decoded.</param>
    /// <param name="value">The value; valid until the document is disposed or the scratch is used.</param>
    /// <returns>False if the document is of another type.</returns>
    public static bool TryReadString(scoped in DocumentView document, PooledBytes scratch, out ReadOnlySpan<byte> value)
    {
        var body = document.Body;
        if (document.Metadata.StartsWith(PlainMetadata) && TryReadPlain(body, out value))
        {
            return true;
        }

        value = default;
        if (TypeOf(document) != RedisType.String)
        {
            return false;
        }

        int at = 0;
        StoredJson.TryReadMember(body, ref at, out var name, out int start);
        value = IsName(body, name, ValueMember) ? Text(body[start..at], scratch) : FromBase64(body[start..at], scratch);
        return true;
    }

    /// <summary>
    /// Returns an element of a set or list, or the value of a hash's member: the text of a string, the bytes of
    /// <c>{"Base64":"…"}</c>, or any other JSON as its text.
    /// </summary>
    public static ReadOnlySpan<byte> ReadElement(ReadOnlySpan<byte> json, PooledBytes scratch)
    {
        if (json[0] == (byte)'"')
        {
            return Text(json, scratch);
        }

        return json[0] == (byte)'{' && FormOf(json[1..^1], Base64Member) ? FromBase64(json[10..^1], scratch) : json;
    }

    /// <summary>Returns the offset of the array in the body of a set or list.</summary>
    public static int ArrayAt(ReadOnlySpan<byte> body)
    {
        int at = 0;
        StoredJson.TryReadMember(body, ref at, out _, out int start);
        return start;
    }

    /// <summary>Returns whether the name of a member, with or without escapes, equals a text.</summary>
    public static bool IsName(ReadOnlySpan<byte> json, JsonSlice name, ReadOnlySpan<byte> text)
    {
        var raw = json.Slice(name.Start, name.Length);
        return name.Escaped ? JsonText.IsText(raw, text) : raw.SequenceEqual(text);
    }

    /// <summary>Returns the text of a JSON string with its quotes.</summary>
    public static ReadOnlySpan<byte> Text(ReadOnlySpan<byte> json, PooledBytes scratch)
    {
        var raw = json[1..^1];
        if (!raw.Contains((byte)'\\'))
        {
            return raw;
        }

        scratch.Clear();
        scratch.Advance(JsonText.Unescape(raw, scratch.Reserve(raw.Length)));
        return scratch.Written;
    }

    private static ReadOnlySpan<byte> FromBase64(ReadOnlySpan<byte> json, PooledBytes scratch)
    {
        var raw = json[1..^1];
        scratch.Clear();
        Base64.DecodeFromUtf8(raw, scratch.Reserve(Base64.GetMaxDecodedFromUtf8Length(raw.Length)), out _, out int n);
        scratch.Advance(n);
        return scratch.Written;
    }

    private static bool TryReadPlain(ReadOnlySpan<byte> body, out ReadOnlySpan<byte> value)
    {
        value = default;
        if (!body.StartsWith(PlainStart) || body.Length <= PlainStart.Length)
        {
            return false;
        }

        value = body[PlainStart.Length..^1];
        return !value.ContainsAny((byte)'"', (byte)'\\');
    }

    private static RedisType ReadDeclared(ReadOnlySpan<byte> metadata)
    {
        if (metadata.StartsWith(PlainMetadata))
        {
            return RedisType.String;
        }

        if (
            !StoredJson.TryFindMember(metadata, container: -1, TypeMember, out var member, out int start)
            || metadata[start] != (byte)'"'
        )
        {
            return RedisType.None;
        }

        var name = metadata[(start + 1)..(member.End.Value - 1)];
        return name.SequenceEqual("hash"u8) ? RedisType.Hash
            : name.SequenceEqual("json"u8) ? RedisType.Json
            : RedisType.None;
    }

    private static RedisType FormOf(ReadOnlySpan<byte> body)
    {
        int at = 0;
        if (!StoredJson.TryReadMember(body, ref at, out var name, out int start) || at != body.Length)
        {
            return RedisType.Hash;
        }

        byte first = body[start];
        return first == (byte)'"' && IsName(body, name, ValueMember) ? RedisType.String
            : FormOf(body, Base64Member) ? RedisType.String
            : first == (byte)'[' && IsName(body, name, SetMember) ? RedisType.Set
            : first == (byte)'[' && IsName(body, name, ListMember) ? RedisType.List
            : IsName(body, name, JsonMember) ? RedisType.Json
            : RedisType.Hash;
    }

    // Returns whether there is one member, its name is written without escapes, and its value is a string in Base64.
    private static bool FormOf(ReadOnlySpan<byte> members, ReadOnlySpan<byte> base64Member)
    {
        int at = 0;
        return StoredJson.TryReadMember(members, ref at, out var name, out int start)
            && at == members.Length
            && members.Slice(name.Start, name.Length).SequenceEqual(base64Member)
            && members[start] == (byte)'"'
            && Base64.IsValid(members[(start + 1)..(at - 1)]);
    }
}

using System.Buffers.Text;
using System.Text.Unicode;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>
/// Builds the content of a document with a value of Redis, as <see cref="StoredDocument"/> describes it. Reused for one
/// document after the other.
/// </summary>
internal sealed class RedisContent : IDisposable
{
    /// <summary>Maximum length of the body and the metadata.</summary>
    private const int MaxBytes = DocumentLimits.MaxDocumentBytes - 128;

    private readonly PooledBytes _bytes = new();
    private readonly PooledBytes _metadata = new();
    private int _bodyStart;

    /// <summary>The collection of documents that Redis creates.</summary>
    public static ReadOnlySpan<byte> RedisCollection => "@redis"u8;

    /// <summary>The content so far.</summary>
    public ReadOnlySpan<byte> Written => _bytes.Written;

    /// <summary>The collection's name.</summary>
    public ReadOnlySpan<byte> Collection
    {
        get
        {
            int at = 0;
            Varint.TryReadBytes(_bytes.Written, ref at, out var collection);
            return collection;
        }
    }

    /// <summary>When the document expires, in UTC ticks; 0 for never.</summary>
    public long ExpiresAtTicks { get; private set; }

    /// <summary>Whether the document is not longer than documents may be.</summary>
    public bool Fits => _bytes.Length <= MaxBytes;

    /// <summary>Returns whether a value of this length can fit, before it is built.</summary>
    public static bool MayFit(long length) => length <= MaxBytes;

    /// <summary>Removes the content, and returns large memory.</summary>
    public void Trim()
    {
        _bytes.Clear();
        _metadata.Clear();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _bytes.Release();
        _metadata.Release();
    }

    /// <summary>Begins a new document.</summary>
    public void Begin(RedisType type, long expiresAtTicks)
    {
        _metadata.Clear();
        Begin(RedisCollection, type, expiresAtTicks);
    }

    /// <summary>
    /// Begins the next version of a document, which keeps its collection and its other metadata.
    /// </summary>
    public void Begin(scoped in DocumentView previous, RedisType type, long expiresAtTicks)
    {
        _metadata.Clear();
        var metadata = previous.Metadata;
        for (int at = 0; ; )
        {
            if (!StoredJson.TryReadMember(metadata, ref at, out var name, out _))
            {
                break;
            }

            if (
                !RedisBody.IsName(metadata, name, RedisBody.TypeMember)
                && !RedisBody.IsName(metadata, name, "@expires"u8)
            )
            {
                _metadata.Append((byte)',');
                _metadata.Append(metadata[(name.Start - 1)..at]);
            }
        }

        Begin(previous.Collection, type, expiresAtTicks);
    }

    /// <summary>Appends JSON to the body.</summary>
    public void Append(ReadOnlySpan<byte> json) => _bytes.Append(json);

    /// <summary>Appends the body of a string.</summary>
    public void AppendString(ReadOnlySpan<byte> value)
    {
        bool isText = Utf8.IsValid(value);
        _bytes.Append(isText ? "\"Value\":\""u8 : "\"Base64\":\""u8);
        AppendBytes(value, isText);
        _bytes.Append((byte)'"');
    }

    /// <summary>Appends the name of a member, any UTF-8, with quotes and a colon.</summary>
    public void AppendName(ReadOnlySpan<byte> name)
    {
        _bytes.Append((byte)'"');
        AppendBytes(name, isText: true);
        _bytes.Append("\":"u8);
    }

    /// <summary>Appends an element of a list or set, or the value of a hash's member.</summary>
    public void AppendElement(ReadOnlySpan<byte> value)
    {
        bool isText = Utf8.IsValid(value);
        _bytes.Append(isText ? "\""u8 : "{\"Base64\":\""u8);
        AppendBytes(value, isText);
        _bytes.Append(isText ? "\""u8 : "\"}"u8);
    }

    /// <summary>Appends a comma, unless the body is empty or its array has just begun.</summary>
    public void AppendComma()
    {
        if (_bytes.Length > _bodyStart && _bytes.Written[^1] is not (byte)'[')
        {
            _bytes.Append((byte)',');
        }
    }

    private void Begin(ReadOnlySpan<byte> collection, RedisType type, long expiresAtTicks)
    {
        const int OwnMetadataBytes = 64;
        _bytes.Clear();
        ExpiresAtTicks = expiresAtTicks;
        Span<byte> own = stackalloc byte[OwnMetadataBytes];
        int length = Copy("\"@redis\":\""u8, own, 0);
        length = Copy(RedisBody.NameOf(type), own, length);
        length = Copy("\""u8, own, length);
        if (expiresAtTicks != 0)
        {
            length = Copy(",\"@expires\":\""u8, own, length);
            WireDate.Write(own[length..], expiresAtTicks);
            length = Copy("\""u8, own, length + WireDate.Length);
        }

        _bytes.Advance(Varint.WriteBytes(_bytes.Reserve(Varint.MaxBytes32 + collection.Length), collection));
        uint metadataBytes = (uint)(length + _metadata.Length);
        _bytes.Advance(Varint.Write(_bytes.Reserve(Varint.MaxBytes32), metadataBytes));
        _bytes.Append(own[..length]);
        _bytes.Append(_metadata.Written);
        _bodyStart = _bytes.Length;
    }

    private void AppendBytes(ReadOnlySpan<byte> value, bool isText)
    {
        if (isText)
        {
            _bytes.Advance(JsonText.Escape(value, _bytes.Reserve(JsonText.EscapedBytes(value))));
            return;
        }

        Base64.EncodeToUtf8(
            value,
            _bytes.Reserve(Base64.GetMaxEncodedToUtf8Length(value.Length)),
            out _,
            out int written
        );
        _bytes.Advance(written);
    }

    private static int Copy(ReadOnlySpan<byte> source, Span<byte> destination, int at)
    {
        source.CopyTo(destination[at..]);
        return at + source.Length;
    }
}

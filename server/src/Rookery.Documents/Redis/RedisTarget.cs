using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>
/// A key of a command with its document. Reused: <see cref="Open"/> it for each key, and dispose it before the next.
/// </summary>
internal sealed class RedisTarget : IDisposable
{
    private readonly byte[] _id = new byte[RedisKey.MaxIdBytes];
    private readonly byte[] _lowerId = new byte[RedisKey.MaxIdBytes];
    private Document _stored;
    private int _length;

    /// <summary>The id: that of the stored document if there is one, else the key's.</summary>
    public ReadOnlySpan<byte> Id => _stored.Exists ? _stored.Head.Id : _id.AsSpan(0, _length);

    /// <summary>The lower-cased id.</summary>
    public ReadOnlySpan<byte> LowerId => _lowerId.AsSpan(0, _length);

    /// <summary>Whether the key exists, and has not expired.</summary>
    public bool Exists { get; private set; }

    /// <summary>The stored document, even if it expired; the default value if there is none.</summary>
    public Document Stored => _stored;

    /// <summary>The document of an existing key.</summary>
    public DocumentView View => _stored.View;

    /// <summary>When the key expires, in UTC ticks; 0 for never, and if the key does not exist.</summary>
    public long ExpiresAtTicks => Exists ? _stored.Head.ExpiresAtTicks : 0;

    /// <summary>The type of the value; None if the key does not exist.</summary>
    public RedisType Type => Exists ? RedisBody.TypeOf(View) : RedisType.None;

    /// <summary>Looks up a key, whose id is not too long.</summary>
    public void Open(RedisStore store, ReadOnlySpan<byte> key)
    {
        Invariant.Holds(RedisKey.TryWriteId(key, _id, out _length), "keys are checked before a command runs");
        RedisKey.WriteLowerId(_id.AsSpan(0, _length), _lowerId);
        _stored = store.Find(LowerId);
        Exists = _stored.Exists && !store.HasExpired(_stored.Head.ExpiresAtTicks);
    }

    /// <summary>Records that the document was stored or deleted, and releases its previous version.</summary>
    public void Forget(bool exists)
    {
        _stored.Dispose();
        _stored = default;
        Exists = exists;
    }

    /// <inheritdoc/>
    public void Dispose() => Forget(exists: false);
}

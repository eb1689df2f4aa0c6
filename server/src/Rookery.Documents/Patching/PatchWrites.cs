using System.Buffers.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Documents.Patching;

/// <summary>
/// The documents that the script of a patch loads, stores and deletes. What it stores is collected here, in the order
/// of the calls, and stored after the run. Bounded in number and bytes.
/// </summary>
internal sealed class PatchWrites : IScriptStore, IDisposable
{
    /// <summary>Maximum bytes of the documents that one run stores.</summary>
    public const int MaxBytes = 8 << 20;

    // Maximum length of a document that a script loads. The memory of a script would not hold a longer one.
    private const long MaxLoadedBytes = 8 << 20;
    private const int NumberDigits = 19;

    private readonly PooledBytes _bytes = new();
    private readonly List<Write> _writes = [];
    private readonly byte[] _lowerId = new byte[2 * DocumentId.MaxBytes];
    private readonly byte[] _ownId = new byte[DocumentId.MaxBytes];
    private int _ownIdLength;
    private int _maxWrites;
    private long _logTicks;

    /// <summary>The documents of the database; null for none.</summary>
    public IPatchSource? Source { get; set; }

    /// <summary>Number of writes.</summary>
    public int Count => _writes.Count;

    /// <summary>
    /// Whether a write stores or deletes the patched document itself. The patch's own result is then not stored.
    /// </summary>
    public bool ReplacesOwn { get; private set; }

    /// <summary>Bytes of the documents that the run loaded.</summary>
    public long LoadedBytes { get; private set; }

    /// <summary>Begins a run.</summary>
    /// <param name="ownLowerId">The id of the patched document, lower-cased.</param>
    /// <param name="maxWrites">Maximum number of writes: their etags are reserved.</param>
    /// <param name="logTicks">The log time, which the stored documents get.</param>
    public void Begin(ReadOnlySpan<byte> ownLowerId, int maxWrites, long logTicks)
    {
        Clear();
        ownLowerId.CopyTo(_ownId);
        _ownIdLength = ownLowerId.Length;
        (_maxWrites, _logTicks) = (maxWrites, logTicks);
    }

    /// <summary>Removes all writes.</summary>
    public void Clear()
    {
        _bytes.Clear();
        _writes.Clear();
        ReplacesOwn = false;
        LoadedBytes = 0;
    }

    /// <inheritdoc/>
    public void Dispose() => _bytes.Release();

    /// <summary>Returns a write; its spans are valid until the next run.</summary>
    public PatchWrite this[int index]
    {
        get
        {
            var write = _writes[index];
            return new PatchWrite
            {
                IsDelete = write.IsDelete,
                IsOfCounter = write.IsOfCounter,
                Counter = Span(write.Counter),
                LowerCounter = Span(write.LowerCounter),
                Delta = write.Delta,
                Id = Span(write.Id),
                LowerId = Span(write.LowerId),
                Content = Span(write.Content),
                Collection = Span(write.Collection),
                ExpiresAtTicks = write.ExpiresAtTicks,
                HasChangeVector = write.HasChangeVector,
                ChangeVector = Span(write.ChangeVector),
                IsOwn = write.IsOwn,
            };
        }
    }

    /// <inheritdoc/>
    public void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
    {
        if (!TryToLower(id, out var lowerId))
        {
            return;
        }

        if (FindWrite(lowerId) is { } write)
        {
            if (!write.IsDelete)
            {
                receiver(ToScript(write));
            }

            return;
        }

        using var document = Find(lowerId);
        if (!document.Exists)
        {
            return;
        }

        LoadedBytes += document.Length;
        if (document.Length > MaxLoadedBytes)
        {
            throw new ScriptFailure(
                $"the script loads document {Shown(id)}, which takes more than {Amount.Bytes(MaxLoadedBytes)}"
            );
        }

        receiver(document.View.ToScript());
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Put(
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> json,
        ReadOnlySpan<byte> changeVector,
        bool hasChangeVector
    )
    {
        RequireRoom(json.Length);
        if (!DocumentId.TryValidateForStore(id, out var problem) || id.IsEmpty)
        {
            throw new ScriptFailure(id.IsEmpty ? "the script puts a document without an id" : Lowered(problem.What));
        }

        var stored = Complete(id);
        using var parser = DocumentParser.Rent();
        if (!parser.TryParse(json, out var document, out var error))
        {
            throw new ScriptFailure($"the script puts document {Shown(id)}, and it is refused: {error.What}");
        }

        int contentBytes = StoredDocument.ContentBytes(document);
        int start = _bytes.Length;
        _bytes.Advance(StoredDocument.WriteContent(_bytes.Reserve(contentBytes), document));
        var content = start.._bytes.Length;
        Add(
            stored,
            new Write
            {
                Content = content,
                Collection = Append(document.Collection),
                ExpiresAtTicks = document.ExpiresAtTicks,
                ChangeVector = Append(changeVector),
                HasChangeVector = hasChangeVector,
            }
        );
        return Span(_writes[^1].Id);
    }

    /// <inheritdoc/>
    public bool Delete(ReadOnlySpan<byte> id, ReadOnlySpan<byte> changeVector, bool hasChangeVector)
    {
        if (!DocumentId.TryValidate(id, out var problem))
        {
            throw new ScriptFailure(Lowered(problem.What));
        }

        RequireRoom(0);
        TryToLower(id, out var lowerId);
        bool exists = FindWrite(lowerId) is { } write ? !write.IsDelete : Exists(lowerId);
        if (exists || hasChangeVector)
        {
            Add(
                Append(id),
                new Write
                {
                    IsDelete = true,
                    ChangeVector = Append(changeVector),
                    HasChangeVector = hasChangeVector,
                }
            );
        }

        return exists;
    }

    /// <inheritdoc/>
    public void ChangeCounter(ReadOnlySpan<byte> id, ReadOnlySpan<byte> name, long? delta)
    {
        InputError problem = default;
        if (!DocumentId.TryValidate(id, out problem) || !CounterName.TryValidate(name, out problem))
        {
            throw new ScriptFailure(Lowered(problem.What));
        }

        RequireRoom(0);
        if (!TryToLower(name, out var lowerName))
        {
            throw new ScriptFailure("the script changes a counter whose name is too long");
        }

        var lowerCounter = Append(lowerName);
        Add(
            Append(id),
            new Write
            {
                IsOfCounter = true,
                IsDelete = delta is null,
                Delta = delta ?? 0,
                Counter = Append(name),
                LowerCounter = lowerCounter,
            }
        );
    }

    /// <inheritdoc/>
    public long? ReadCounter(ReadOnlySpan<byte> id, ReadOnlySpan<byte> name)
    {
        if (!TryToLower(name, out var lower))
        {
            return null;
        }

        byte[] lowerName = lower.ToArray();
        if (!TryToLower(id, out var lowerId) || lowerId.IsEmpty || lowerName.Length == 0)
        {
            return null;
        }

        long? value = Source?.ReadCounter(lowerId, lowerName);
        foreach (var write in _writes)
        {
            if (!Span(write.LowerId).SequenceEqual(lowerId))
            {
                continue;
            }

            if (!write.IsOfCounter)
            {
                value = write.IsDelete ? null : value;
            }
            else if (Span(write.LowerCounter).SequenceEqual(lowerName))
            {
                value = write.IsDelete ? null : unchecked((value ?? 0) + write.Delta);
            }
        }

        return value;
    }

    private void Add(Range id, Write write)
    {
        if (!TryToLower(Span(id), out var lowerId))
        {
            throw new ScriptFailure("the script writes a document whose id is too long");
        }

        bool isOwn = lowerId.SequenceEqual(_ownId.AsSpan(0, _ownIdLength));
        ReplacesOwn |= isOwn && !write.IsOfCounter;
        _writes.Add(write with { Id = id, LowerId = Append(lowerId), IsOwn = isOwn });
    }

    private void RequireRoom(int bytes)
    {
        if (_writes.Count == _maxWrites)
        {
            throw new ScriptFailure($"the script puts and deletes more than {_maxWrites} documents");
        }

        if (_bytes.Length + (long)bytes > MaxBytes)
        {
            throw new ScriptFailure($"the script puts more than {Amount.Bytes(MaxBytes)} of documents");
        }
    }

    /// <summary>
    /// Appends an id, completed as that of a PUT: <c>users/</c> by the database's next number, <c>users|</c> by an
    /// identity.
    /// </summary>
    private Range Complete(ReadOnlySpan<byte> id)
    {
        if (id[^1] is not ((byte)'/' or (byte)'|'))
        {
            return Append(id);
        }

        Span<byte> name = stackalloc byte[DocumentId.MaxBytes];
        if (!TryToLower(id, out var lower))
        {
            throw new ScriptFailure("the script writes a document whose id is too long");
        }

        lower.CopyTo(name);
        name = id[^1] == (byte)'/' ? default : name[..lower.Length];
        var ids = new NumberedIds { Writes = this, Prefix = id };
        long number = FreeNumber.Find(ids, Source?.LastIdentity(name) ?? 0);
        Source?.SetIdentity(name, number);
        return AppendNumbered(id, number);
    }

    private Range AppendNumbered(ReadOnlySpan<byte> prefix, long number)
    {
        bool isOfDatabase = prefix[^1] == (byte)'/';
        Span<byte> suffix = stackalloc byte[NumberDigits + 2];
        Utf8Formatter.TryFormat(number, suffix, out int length, isOfDatabase ? new('D', NumberDigits) : default);
        if (isOfDatabase)
        {
            "-A"u8.CopyTo(suffix[length..]);
            length += 2;
        }

        int start = _bytes.Length;
        var id = Append(prefix, suffix[..length]);
        _bytes.WrittenMemory.Span[start + prefix.Length - 1] = (byte)'/';
        return id;
    }

    private bool IsTaken(ReadOnlySpan<byte> prefix, long number)
    {
        var id = AppendNumbered(prefix, number);
        bool isTaken = TryToLower(Span(id), out var lowerId) && (FindWrite(lowerId) is not null || Exists(lowerId));
        _bytes.Truncate(id.Start.Value);
        return isTaken;
    }

    private bool Exists(ReadOnlySpan<byte> lowerId)
    {
        using var document = Find(lowerId);
        return document.Exists;
    }

    private Document Find(ReadOnlySpan<byte> lowerId) =>
        lowerId.IsEmpty || lowerId.Length > DocumentId.MaxBytes || Source is null ? default : Source.Find(lowerId);

    private Write? FindWrite(ReadOnlySpan<byte> lowerId)
    {
        for (int index = _writes.Count - 1; index >= 0; index--)
        {
            if (!_writes[index].IsOfCounter && Span(_writes[index].LowerId).SequenceEqual(lowerId))
            {
                return _writes[index];
            }
        }

        return null;
    }

    private ScriptDocument ToScript(Write write)
    {
        var content = Span(write.Content);
        int at = 0;
        bool isRead =
            Varint.TryReadBytes(content, ref at, out var collection)
            & Varint.TryReadBytes(content, ref at, out var metadata);
        Invariant.Holds(isRead, "the content of a document begins with its collection and metadata");
        return new ScriptDocument
        {
            Id = Span(write.Id),
            Collection = collection,
            Metadata = metadata,
            Body = content[at..],
            LastModifiedTicks = _logTicks,
        };
    }

    // Uses a table that is part of Rookery, because members may have different versions of Unicode.
    private bool TryToLower(ReadOnlySpan<byte> id, out ReadOnlySpan<byte> lowerId)
    {
        int length = 0;
        bool isValid =
            id.Length <= DocumentId.MaxBytes
            && LetterCase.TryLower(id, _lowerId, out length)
            && length <= DocumentId.MaxBytes;
        lowerId = isValid ? _lowerId.AsSpan(0, length) : default;
        return isValid;
    }

    private Range Append(ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> more = default)
    {
        int start = _bytes.Length;
        _bytes.Append(bytes);
        _bytes.Append(more);
        return start.._bytes.Length;
    }

    private ReadOnlySpan<byte> Span(Range range) => _bytes.Written[range];

    private static string Shown(ReadOnlySpan<byte> id) => ShortText.Of(id, 60);

    // The sentences begin with an ASCII letter.
    private static string Lowered(string sentence) => (char)(sentence[0] | 0x20) + sentence[1..];

    /// <summary>Ids of a prefix; those that the run itself wrote are taken.</summary>
    private readonly ref struct NumberedIds : INumberedIds
    {
        public required PatchWrites Writes { get; init; }

        public required ReadOnlySpan<byte> Prefix { get; init; }

        public bool IsTaken(long number) => Writes.IsTaken(Prefix, number);
    }

    private sealed record Write
    {
        public bool IsDelete { get; init; }

        public bool IsOwn { get; init; }

        public bool IsOfCounter { get; init; }

        public Range Counter { get; init; }

        public Range LowerCounter { get; init; }

        public long Delta { get; init; }

        public Range Id { get; init; }

        public Range LowerId { get; init; }

        public Range Content { get; init; }

        public Range Collection { get; init; }

        public long ExpiresAtTicks { get; init; }

        public Range ChangeVector { get; init; }

        public bool HasChangeVector { get; init; }
    }
}

/// <summary>A document that a script stores or deletes. Spans point into <see cref="PatchWrites"/>.</summary>
internal readonly ref struct PatchWrite
{
    public bool IsDelete { get; init; }

    /// <summary>Whether this is the patched document itself.</summary>
    public bool IsOwn { get; init; }

    /// <summary>Whether this increments or deletes a counter of the document.</summary>
    public bool IsOfCounter { get; init; }

    public ReadOnlySpan<byte> Counter { get; init; }

    public ReadOnlySpan<byte> LowerCounter { get; init; }

    /// <summary>The number to add to the counter.</summary>
    public long Delta { get; init; }

    /// <summary>The id in its original case.</summary>
    public ReadOnlySpan<byte> Id { get; init; }

    public ReadOnlySpan<byte> LowerId { get; init; }

    /// <summary>The stored value without its head (see <see cref="StoredDocument"/>).</summary>
    public ReadOnlySpan<byte> Content { get; init; }

    public ReadOnlySpan<byte> Collection { get; init; }

    /// <summary>Time at which the document expires, in UTC ticks; 0 if never.</summary>
    public long ExpiresAtTicks { get; init; }

    /// <summary>Whether the document must have <see cref="ChangeVector"/>.</summary>
    public bool HasChangeVector { get; init; }

    public ReadOnlySpan<byte> ChangeVector { get; init; }
}

/// <summary>The documents of the database that a patch belongs to.</summary>
internal interface IPatchSource
{
    /// <summary>Finds a document. The caller disposes it.</summary>
    Document Find(ReadOnlySpan<byte> lowerId);

    /// <summary>Returns the last value of an identity; 0 if it was never used.</summary>
    /// <param name="lowerName">Its name, lower-cased, with the <c>|</c> at its end; empty for the numbers of the
    /// database.</param>
    long LastIdentity(ReadOnlySpan<byte> lowerName);

    /// <summary>Sets the last value of an identity.</summary>
    /// <param name="lowerName">Its name, as above.</param>
    /// <param name="value">The value.</param>
    void SetIdentity(ReadOnlySpan<byte> lowerName, long value);

    /// <summary>Returns the value of a counter; null if there is no such counter.</summary>
    long? ReadCounter(ReadOnlySpan<byte> lowerId, ReadOnlySpan<byte> lowerName);
}

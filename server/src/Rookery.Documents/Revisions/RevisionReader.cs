using System.Buffers;
using Rookery.Documents.Apply;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Reads the revisions of documents in a reader's snapshot, which must stay open. The current revision is valid until
/// the next read. One thread at a time.
/// </summary>
public sealed class RevisionReader : IDisposable
{
    private readonly RevisionDecoder _decoder = new();
    private readonly byte[] _lowerId = new byte[DocumentId.MaxBytes];
    private readonly Action? _check;
    private readonly DatabaseReader _reader;
    private readonly RevisionSource _source;
    private int _lowerIdLength;
    private long _rowsRead;
    private long _nextBefore; // the walk continues with the newest row below this etag

    /// <summary>Begins to read in a snapshot.</summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="check">Called regularly while many rows are read; may throw to end the work.</param>
    public RevisionReader(in DatabaseReader reader, Action? check = null)
    {
        _check = check;
        _reader = reader;
        _source = new RevisionSource(reader.Snapshot, reader.Database.Number);
    }

    /// <summary>
    /// Number of copies of about the length of the current revision that this reader and an answer hold: its content,
    /// that of the next older one, the revision with its head, and its JSON.
    /// </summary>
    public const int Copies = 4;

    /// <summary>Etag of the current revision.</summary>
    public long Etag { get; private set; }

    /// <summary>The current revision.</summary>
    public DocumentView View => _decoder.View;

    /// <summary>Length of the current revision as stored, in bytes.</summary>
    public long Length => _decoder.Length;

    /// <summary>Time of the current revision, in UTC ticks.</summary>
    public long LastModifiedTicks => View.LastModifiedTicks;

    /// <summary>Whether the current revision stands for the deletion of the document.</summary>
    public bool IsDeletion => ((RevisionFlags)View.Revisions[0] & RevisionFlags.IsDelete) != RevisionFlags.None;

    /// <summary>Whether revisions of the current revision's collection are removed by number or age.</summary>
    public bool MayLackOldest =>
        _reader.ReadRevisionsConfiguration()?.Find(View.Collection) is { IsDisabled: false } rule
        && (rule.MinimumToKeep is not null || rule.MinimumAgeTicks is not null)
        && Count >= (rule.MinimumToKeep ?? 1);

    /// <summary>Number of revisions of the document that <see cref="TrySelect"/> found.</summary>
    public long Count { get; private set; }

    private ReadOnlySpan<byte> LowerId => _lowerId.AsSpan(0, _lowerIdLength);

    /// <summary>Selects a document, which may be deleted.</summary>
    /// <param name="id">Its id, in any casing.</param>
    /// <returns>Whether it has revisions.</returns>
    public bool TrySelect(ReadOnlySpan<byte> id)
    {
        Count = 0;
        _decoder.Reset();
        _nextBefore = long.MaxValue;
        Etag = 0;
        if (!DocumentId.TryToLower(id, _lowerId, out _lowerIdLength))
        {
            _lowerIdLength = 0;
            return false;
        }

        Count = _source.ReadState(LowerId).Count;
        return Count != 0;
    }

    /// <summary>Skips the newest revisions of the selected document, before the first move.</summary>
    /// <param name="count">Number of revisions to skip.</param>
    public void Skip(long count)
    {
        if (count <= 0)
        {
            return;
        }

        long live = _source.ReadState(LowerId).LiveEtag;
        if (live != 0)
        {
            _nextBefore = live;
            count--;
        }

        using var rows = _source.Seek(LowerId, from: 0, _nextBefore, backward: true);
        while (count > 0 && rows.MoveNext())
        {
            CheckRegularly();
            _nextBefore = Key.LastNumberOf(rows.Key);
            count--;
        }
    }

    /// <summary>
    /// Moves to the newest revision of the selected document, then to the next older one; false at the end.
    /// </summary>
    public bool MoveNext()
    {
        if (_lowerIdLength == 0)
        {
            return false;
        }

        if (_nextBefore == long.MaxValue && TryReadLive(_source.ReadState(LowerId).LiveEtag))
        {
            return true;
        }

        long etag;
        using (var rows = _source.Seek(LowerId, from: 0, _nextBefore, backward: true))
        {
            if (!rows.MoveNext())
            {
                return false;
            }

            etag = Key.LastNumberOf(rows.Key);
        }

        return TryReadRow(etag, newerEtag: Etag);
    }

    /// <summary>
    /// Moves to the oldest revision of the selected document, then to the next newer one; false at the end. Each costs
    /// the rows of its chain.
    /// </summary>
    public bool MoveNextNewer()
    {
        long live = _source.ReadState(LowerId).LiveEtag;
        if (Etag != 0 && Etag == live)
        {
            return false;
        }

        long etag = 0;
        using (var rows = _source.Seek(LowerId, Etag + 1, long.MaxValue))
        {
            etag = rows.MoveNext() ? Key.LastNumberOf(rows.Key) : 0;
        }

        return etag == 0 ? TryReadLive(live) : TryReadRow(etag, newerEtag: 0);
    }

    /// <summary>Moves to the newest revision of the selected document that is not newer than a time.</summary>
    /// <param name="ticks">The time, in UTC ticks.</param>
    public bool TryFindAt(long ticks)
    {
        long live = _source.ReadState(LowerId).LiveEtag;
        if (live != 0 && _reader.TryGetVersion(LowerId, live, out var document))
        {
            using (document)
            {
                if (document.Head.LastModifiedTicks <= ticks)
                {
                    return TryReadLive(live);
                }
            }
        }

        long found = 0;
        using (var rows = _source.Seek(LowerId, from: 0, long.MaxValue, backward: true))
        {
            while (found == 0 && rows.MoveNext())
            {
                CheckRegularly();
                var peeked = RevisionBytes.Peek(rows);
                found = peeked.Ticks <= ticks ? peeked.Etag : 0;
            }
        }

        return found != 0 && TryReadRow(found, newerEtag: 0);
    }

    /// <summary>
    /// Returns the time of the selected document's last change, in UTC ticks; 0 if the document does not exist.
    /// </summary>
    public long ReadDocumentTicks()
    {
        if (!_reader.TryGetByLowerId(LowerId, out var document))
        {
            return 0;
        }

        using (document)
        {
            return document.Head.LastModifiedTicks;
        }
    }

    /// <summary>Moves to the oldest revision of the selected document.</summary>
    public bool TryFindOldest()
    {
        long etag = _source.ReadState(LowerId).LiveEtag;
        using (var rows = _source.Seek(LowerId, from: 0, long.MaxValue))
        {
            if (!rows.MoveNext())
            {
                return TryReadLive(etag);
            }

            etag = Key.LastNumberOf(rows.Key);
        }

        return TryReadRow(etag, newerEtag: 0);
    }

    /// <summary>Selects the next id with revisions, in the order of lower-cased ids.</summary>
    /// <param name="after">The last id, in lower case; null to begin. Afterwards the selected one.</param>
    public bool TrySelectNext(ref byte[]? after)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes + 1];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        uint database = _reader.Database.Number;
        var start = Key.WriteText(from, database, Table.RevisionStates, after);
        if (after is not null)
        {
            from[start.Length] = 0; // the next possible key
            start = from[..(start.Length + 1)];
        }

        _reader.ThrowIfEnded();
        using var rows = _reader.Snapshot.Seek(start, Key.WritePrefix(to, database, Table.RevisionStates + 1));
        if (!rows.MoveNext())
        {
            return false;
        }

        after = Key.TextOf(rows.Key).ToArray();
        return TrySelect(after);
    }

    /// <summary>Finds a revision by its etag, whatever its document; selects that document.</summary>
    public bool TryFind(long etag)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        _decoder.Reset();
        if (
            !TryGetId(Key.WriteNumber(key, _reader.Database.Number, Table.RevisionsByEtag, etag))
            && !TryGetId(Key.WriteNumber(key, _reader.Database.Number, Table.ByEtag, etag))
        )
        {
            return false;
        }

        var state = _source.ReadState(LowerId);
        return state.LiveEtag == etag ? TryReadLive(etag) : state.Rows > 0 && TryReadRow(etag, newerEtag: 0);
    }

    /// <summary>Moves to the revision of the newest deletion before an etag, whose document does not exist.</summary>
    /// <param name="before">The etag; afterwards that of the found revision.</param>
    public bool TryMoveToDeletion(ref long before)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        while (true)
        {
            _reader.ThrowIfEnded();
            using (
                var rows = _reader.Snapshot.Seek(
                    Key.WritePrefix(from, _reader.Database.Number, Table.RevisionBin),
                    Key.WriteNumber(to, _reader.Database.Number, Table.RevisionBin, before),
                    backward: true
                )
            )
            {
                if (!rows.MoveNext())
                {
                    return false;
                }

                before = Key.LastNumberOf(rows.Key);
                rows.Value.CopyTo(_lowerId);
                _lowerIdLength = rows.Value.Length;
            }

            _decoder.Reset();
            if (TryReadRow(before, newerEtag: 0))
            {
                return true;
            }
        }
    }

    /// <summary>Releases the memory of the current revision, before a wait.</summary>
    public void Pause() => _decoder.Release();

    /// <summary>Reads the current revision again, after <see cref="Pause"/>.</summary>
    /// <exception cref="Rookery.Storage.SnapshotEndedException">The snapshot ended meanwhile.</exception>
    public void Resume()
    {
        _reader.ThrowIfEnded();
        long etag = Etag;
        bool isRead = _source.ReadState(LowerId).LiveEtag == etag ? TryReadLive(etag) : TryReadRow(etag, newerEtag: 0);
        Invariant.Holds(isRead, "a revision that a snapshot contains stays in it");
    }

    /// <summary>Writes the current revision in its form for clients.</summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="metadataOnly">Whether to write only the metadata.</param>
    /// <param name="historyId">The database's history id, 22 ASCII characters.</param>
    public void Write(IBufferWriter<byte> output, bool metadataOnly, ReadOnlySpan<byte> historyId)
    {
        if (metadataOnly)
        {
            DocumentWriter.WriteMetadataOnly(output, View, Etag, historyId);
        }
        else
        {
            DocumentWriter.Write(output, View, Etag, historyId);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _decoder.Dispose();

    private void CheckRegularly()
    {
        const int RowsBetweenChecks = 1024;
        _reader.ThrowIfEnded();
        if (++_rowsRead % RowsBetweenChecks == 0)
        {
            _check?.Invoke();
        }
    }

    private bool TryGetId(ReadOnlySpan<byte> key)
    {
        if (!_reader.Snapshot.TryGet(key, out var row))
        {
            return false;
        }

        using (row)
        {
            row.Value.CopyTo(_lowerId);
            _lowerIdLength = row.Value.Length;
            return true;
        }
    }

    private bool TryReadLive(long etag)
    {
        if (etag == 0 || !_reader.TryGetVersion(LowerId, etag, out var document))
        {
            return false;
        }

        using (document)
        {
            _decoder.ReadLive(document);
        }

        Etag = _nextBefore = etag;
        return true;
    }

    private bool TryReadRow(long etag, long newerEtag)
    {
        if (!_decoder.TryRead(_source, LowerId, etag, newerEtag))
        {
            return false;
        }

        Etag = _nextBefore = etag;
        return true;
    }
}

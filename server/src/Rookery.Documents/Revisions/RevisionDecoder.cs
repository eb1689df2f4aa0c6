using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Assembles revisions from their rows. Keeps the content of the last revision, so that the next older one costs one
/// row. One thread at a time.
/// </summary>
internal sealed class RevisionDecoder : IDisposable
{
    private readonly List<long> _chain = [];
    private readonly PooledBytes _shown = new(); // head and content of the current revision
    private PooledBytes _content = new(); // content of the current revision
    private PooledBytes _other = new();
    private long _contentEtag; // etag of the revision whose content is kept; 0 for none

    /// <summary>The current revision, as a stored document; valid until the next one is read.</summary>
    public DocumentView View => new(_shown.Written);

    /// <summary>Length of the current revision in bytes.</summary>
    public int Length => _shown.Length;

    /// <summary>Bytes of documents that were read and copied so far.</summary>
    public long CopiedBytes { get; private set; }

    /// <summary>Reads the document's present version as a revision.</summary>
    /// <param name="document">The document.</param>
    public void ReadLive(in Document document)
    {
        var view = document.View;
        var bytes = document.Bytes;
        int headLength = bytes.Length - view.Content.Length;
        _contentEtag = 0;
        _content.Clear();
        _content.Append(view.Content);
        _contentEtag = document.Etag;
        Show(bytes[..headLength], headLength - view.Revisions.Length);
    }

    /// <summary>Reads a revision that has a row.</summary>
    /// <param name="source">The rows.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="etag">The revision's etag.</param>
    /// <param name="newerEtag">Etag of the next newer revision if it was read last; otherwise 0.</param>
    /// <returns>Whether the document has such a row.</returns>
    /// <exception cref="DamagedException">A row that is needed is damaged.</exception>
    public bool TryRead(in RevisionSource source, ReadOnlySpan<byte> lowerId, long etag, long newerEtag = 0)
    {
        if (!source.TryGetRevision(lowerId, etag, out var row))
        {
            return false;
        }

        using var bytes = new RevisionBytes(row);
        var revision = new RevisionRow(bytes.Span);
        long keptEtag = _contentEtag;
        _contentEtag = 0; // if a row below is damaged, the content is that of another revision
        if (!revision.IsDelta)
        {
            _content.Clear();
            _content.Append(revision.Content);
        }
        else
        {
            if (keptEtag == 0 || keptEtag != newerEtag)
            {
                ReadNewer(source, lowerId, etag);
            }

            Apply(revision.Content);
        }

        _contentEtag = etag;
        Show(revision.Head, revision.RevisionsPart);
        return true;
    }

    /// <summary>Forgets the content of the last revision.</summary>
    public void Reset() => _contentEtag = 0;

    /// <summary>Releases the memory. The current revision is not readable any more.</summary>
    public void Release()
    {
        Reset();
        _shown.Release();
        _content.Release();
        _other.Release();
    }

    /// <inheritdoc/>
    public void Dispose() => Release();

    // Reads the content of the next newer version: finds the nearest newer version that is stored whole, and applies
    // the differences back from it.
    private void ReadNewer(in RevisionSource source, ReadOnlySpan<byte> lowerId, long etag)
    {
        _chain.Clear();
        bool isWhole = false;
        using (var rows = source.Seek(lowerId, etag + 1, long.MaxValue))
        {
            while (!isWhole && rows.MoveNext())
            {
                var peeked = RevisionBytes.Peek(rows);
                _chain.Add(peeked.Etag);
                isWhole = !peeked.IsDelta;
            }
        }

        _content.Clear();
        if (!isWhole)
        {
            if (!source.TryGetDocument(lowerId, out var row))
            {
                throw DocumentView.Broken();
            }

            using var live = new Document(row);
            _content.Append(live.View.Content);
        }

        for (int i = _chain.Count - 1; i >= 0; i--)
        {
            Invariant.Holds(
                source.TryGetRevision(lowerId, _chain[i], out var newer),
                "a row that a cursor found is there"
            );
            using var bytes = new RevisionBytes(newer);
            var revision = new RevisionRow(bytes.Span);
            if (revision.IsDelta)
            {
                Apply(revision.Content);
            }
            else
            {
                _content.Append(revision.Content);
            }
        }
    }

    private void Apply(ReadOnlySpan<byte> delta)
    {
        _other.Clear();
        RevisionDelta.Decode(_other, delta, _content.Written);
        (_content, _other) = (_other, _content);
        CopiedBytes += _content.Length;
    }

    private void Show(ReadOnlySpan<byte> head, int revisionsPart)
    {
        _shown.Clear();
        _shown.Append(head);
        if (revisionsPart == head.Length)
        {
            throw DocumentView.Broken();
        }

        _shown.WrittenMemory.Span[revisionsPart] |= (byte)RevisionFlags.IsShown;
        _shown.Append(_content.Written);
        CopiedBytes += _shown.Length;
    }
}

using Rookery.Documents.Nodes;
using Rookery.Indexing.Mapping;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The store of an index whose documents name fields. The names become durable before the entries that use their
/// numbers. After a crash there may be names that no entry uses.
/// </summary>
internal sealed class NamedFieldsStore : IIndexStore
{
    private readonly IIndexStore _entries;
    private readonly IndexFolders _folders;
    private readonly string _folder;
    private readonly NamedFields _names;
    private int _saved;

    private NamedFieldsStore(IIndexStore entries, IndexFolders folders, string folder, NamedFields names)
    {
        (_entries, _folders, _folder, _names) = (entries, folders, folder, names);
        _saved = names.Version;
    }

    /// <summary>Opens the store, and loads the names.</summary>
    /// <exception cref="DataFormatException">The names are missing or damaged: the index must be rebuilt.</exception>
    public static NamedFieldsStore Open(IIndexStore entries, IndexFolders folders, string folder, NamedFields names)
    {
        string? text = folders.ReadNames(folder);
        if (text is null && !entries.IsEmpty)
        {
            throw new DataFormatException($"The names of fields in {folder} are missing.");
        }

        names.Load(text ?? "");
        if (text is null)
        {
            folders.WriteNames(folder, names.ToText());
        }

        return new NamedFieldsStore(entries, folders, folder, names);
    }

    /// <inheritdoc/>
    public long Watermark => _entries.Watermark;

    /// <inheritdoc/>
    public bool IsEmpty => _entries.IsEmpty;

    /// <inheritdoc/>
    public long Documents => _entries.Documents;

    /// <inheritdoc/>
    public long PendingBytes => _entries.PendingBytes;

    /// <inheritdoc/>
    public bool NeedsMerge => _entries.NeedsMerge;

    /// <inheritdoc/>
    public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry) => _entries.Put(lowerId, etag, entry);

    /// <inheritdoc/>
    public void Delete(ReadOnlySpan<byte> lowerId) => _entries.Delete(lowerId);

    /// <inheritdoc/>
    public void Apply(long watermark)
    {
        int version = _names.Version;
        if (version != _saved)
        {
            _folders.WriteNames(_folder, _names.ToText());
            _saved = version;
        }

        _entries.Apply(watermark);
    }

    /// <inheritdoc/>
    public IndexSnapshot OpenSnapshot() => _entries.OpenSnapshot();

    /// <inheritdoc/>
    public bool MergeOnce() => _entries.MergeOnce();

    /// <inheritdoc/>
    public void TrimIdle() => _entries.TrimIdle();

    /// <inheritdoc/>
    public void Dispose() => _entries.Dispose();
}

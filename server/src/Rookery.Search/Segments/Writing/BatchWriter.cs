using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;

namespace Rookery.Search.Segments.Writing;

/// <summary>
/// Writes a batch as one segment. Omits versions that were replaced within the batch, and sorts the terms.
/// </summary>
internal sealed class BatchWriter
{
    // Memory for each term while the batch is written: its group, mark and number in the segment, and its place among
    // the sorted terms of a field, whose arrays may be twice as long as needed.
    private const int BytesPerTerm = sizeof(int) + sizeof(bool) + sizeof(int) + (2 * (sizeof(int) + sizeof(ulong)));

    private readonly SegmentBuilder _batch;
    private readonly SegmentWriter _writer;

    // For each entry of the batch, its number in the segment; -1 if a later version replaced it.
    private readonly int[] _newEntries;
    private readonly TermGroups _groups;

    // For each term: whether it is a sort key, and its number in the segment's field. A term has one field, so all
    // fields share the arrays. With arrays for each field, a document of 65,536 fields took 30 s.
    private readonly bool[] _isSortKey;
    private readonly int[] _ordinals;
    private readonly SortedTerms _sorted = new();
    private readonly GrowableBytes _postings = new();
    private readonly int _liveEntries;

    private BatchWriter(SegmentBuilder batch, SegmentWriter writer)
    {
        _batch = batch;
        _writer = writer;
        _newEntries = new int[batch.Entries];
        _groups = new TermGroups(batch.Terms, batch.Fields.Length);
        _isSortKey = new bool[batch.Terms.Count];
        _ordinals = new int[batch.Terms.Count];
        var documents = batch.AllDocuments;
        var entries = batch.AllEntries;
        for (int i = 0; i < _newEntries.Length; i++)
        {
            _newEntries[i] = documents[entries[i].Document].IsReplaced ? -1 : _liveEntries++;
        }
    }

    /// <summary>Returns the number of live entries of a batch.</summary>
    public static int LiveEntriesOf(SegmentBuilder batch)
    {
        int count = 0;
        foreach (ref readonly var document in batch.AllDocuments)
        {
            count += document.IsReplaced ? 0 : document.EntryCount;
        }

        return count;
    }

    /// <summary>Writes everything but the footer; the caller calls the writer's Finish.</summary>
    public static void Write(SegmentBuilder batch, SegmentWriter writer)
    {
        long bytes = ((long)batch.Terms.Count * BytesPerTerm) + ((long)batch.Entries * sizeof(int));
        if (!batch.Share.TryReserveFromCaches(bytes))
        {
            // Writing the batch frees more memory than this.
            batch.Share.Reserve(bytes);
        }

        try
        {
            new BatchWriter(batch, writer).WriteAll();
        }
        finally
        {
            batch.Share.Release(bytes);
        }
    }

    private void WriteAll()
    {
        for (int number = 0; number < _batch.Fields.Length; number++)
        {
            if (_batch.Fields[number] is { } field)
            {
                WriteField(number, field);
            }
        }

        WriteIds();
        WriteEntries();
    }

    private void WriteField(int number, BatchField field)
    {
        _sorted.Collect(_batch.Terms, _groups.Of(number));
        _postingsWritten = 0;
        if (_sorted.Numbers.IsEmpty && !field.HasLengths)
        {
            return;
        }

        bool isText = field.IsText == true;
        _writer.BeginField(number, isText);
        if (field.HasSortKeys)
        {
            MarkSortKeys(field);
        }

        var numbers = _sorted.Numbers;
        for (int i = 0; i < numbers.Length; i++)
        {
            if (i % TermTable.MaxPrefetched == 0)
            {
                _batch.Terms.PrefetchContents(numbers[i..Math.Min(numbers.Length, i + TermTable.MaxPrefetched)]);
            }

            int term = numbers[i];
            var target = _writer.BeginTerm();
            AddPostings(term, field, isText, target);
            if (target.Count > 0 || _isSortKey[term])
            {
                _ordinals[term] = (int)_writer.Terms;
                _writer.EndTerm(_batch.Terms.KeyOf(term));
            }
        }

        var sortOrdinals = field.HasSortKeys
            ? WriteColumn(entry => field.SortTermOf(entry) is >= 0 and int key ? (ulong)_ordinals[key] + 1 : 0)
            : default;
        long withLength = 0;
        long total = 0;
        var lengths = field.HasLengths
            ? WriteColumn(entry =>
            {
                int length = field.LengthOf(entry);
                withLength += length > 0 ? 1 : 0;
                total += length;
                return (ulong)length;
            })
            : default;
        _writer.EndField(
            field.HasPlainKeys && !isText && field.HasSortKeys && AllKeysAreTerms(field),
            sortOrdinals,
            lengths,
            withLength,
            total
        );
    }

    private void MarkSortKeys(BatchField field)
    {
        for (int entry = 0; entry < _newEntries.Length; entry++)
        {
            if (_newEntries[entry] >= 0 && field.SortTermOf(entry) is >= 0 and int key)
            {
                _isSortKey[key] = true;
            }
        }
    }

    /// <summary>
    /// Returns whether every sort key is also a term. Compares only counts, because the caller knows that every term is
    /// the sort key of its entries.
    /// </summary>
    private bool AllKeysAreTerms(BatchField field)
    {
        int withKey = 0;
        for (int entry = 0; entry < _newEntries.Length; entry++)
        {
            withKey += _newEntries[entry] >= 0 && field.SortTermOf(entry) >= 0 ? 1 : 0;
        }

        return withKey == _postingsWritten;
    }

    // Number of postings written in the current field.
    private long _postingsWritten;

    private PackedColumnRoot WriteColumn(Func<int, ulong> value)
    {
        var column = _writer.BeginColumn();
        for (int entry = 0; entry < _newEntries.Length; entry++)
        {
            if (_newEntries[entry] >= 0)
            {
                column.Add(value(entry));
            }
        }

        return column.Finish();
    }

    private void AddPostings(int number, BatchField field, bool isText, PostingsWriter target)
    {
        _postings.Clear();
        _batch.CopyPostings(number, _postings);
        var bytes = _postings.Written;
        int entry = -1;
        for (int at = 0; at < bytes.Length; )
        {
            ulong head = Varint.Read(bytes, ref at);
            int frequency = 1;
            int from = at;
            entry += (int)(isText ? head >> 1 : head);
            if (isText)
            {
                frequency = (head & 1) != 0 ? 1 : Varint.ReadInt(bytes, ref at);
                from = at;
                PostingPositions.Skip(bytes, ref at, frequency);
            }

            if (_newEntries[entry] >= 0)
            {
                target.Add(_newEntries[entry], frequency, isText ? field.LengthOf(entry) : 1, bytes[from..at]);
            }
        }

        _postingsWritten += target.Count;
    }

    private void WriteIds()
    {
        var documents = _batch.AllDocuments;
        _batch.CollectIds(_sorted);
        foreach (int id in _sorted.Numbers)
        {
            ref readonly var document = ref documents[_batch.Terms[id].LastEntry];
            if (document.EntryCount > 0)
            {
                _writer.AddId(_batch.Terms.KeyOf(id), _newEntries[document.FirstEntry], document.EntryCount);
            }
        }
    }

    private void WriteEntries()
    {
        var documents = _batch.AllDocuments;
        var entries = _batch.AllEntries;
        for (int entry = 0; entry < _newEntries.Length; entry++)
        {
            if (_newEntries[entry] >= 0)
            {
                ref readonly var document = ref documents[entries[entry].Document];
                _writer.AddEntry(_batch.Terms.KeyOf(document.Id), document.Etag, _batch.StoredOf(entries[entry]));
            }
        }
    }
}

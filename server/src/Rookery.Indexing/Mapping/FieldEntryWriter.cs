using Rookery.Indexing.Values;
using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;
using Rookery.Search.Values;

namespace Rookery.Indexing.Mapping;

/// <summary>Writes the fields of a document or row into an index entry. Not thread-safe.</summary>
internal sealed class FieldEntryWriter
{
    // Maximum position of a word. Two values are Analyzer.ValueGap positions apart, so only a hostile document exceeds
    // it.
    private const int MaxPositions = 1 << 30;

    private readonly IReadOnlyList<MappedField> _fields;
    private readonly FieldReader[] _readers;
    private readonly byte[] _key = new byte[TermKey.MaxBytes];
    private readonly byte[] _least = new byte[TermKey.MaxBytes];
    private readonly byte[] _greatest = new byte[TermKey.MaxBytes];
    private readonly SearchableText _text = new();

    public FieldEntryWriter(IReadOnlyList<MappedField> fields)
    {
        _fields = fields;
        _readers = [.. fields.Select(static field => new FieldReader(field.Path))];
    }

    /// <summary>Writes the fields into the open entry.</summary>
    /// <exception cref="IndexEntryException">A field has too many words and values.</exception>
    public void Write(in QueriedDocument document, IndexEntry entry)
    {
        for (int i = 0; i < _readers.Length; i++)
        {
            Write(i, _fields[i], _readers[i], document, entry);
        }
    }

    /// <summary>Writes one field into the open entry.</summary>
    /// <param name="position">The position of the field, which determines its numbers.</param>
    /// <param name="field">How it is indexed.</param>
    /// <param name="reader">Reads its values.</param>
    /// <param name="document">The source of the values.</param>
    /// <param name="entry">The entry.</param>
    /// <exception cref="IndexEntryException">The field has too many words and values.</exception>
    public void Write(
        int position,
        MappedField field,
        FieldReader reader,
        in QueriedDocument document,
        IndexEntry entry
    )
    {
        var values = new ValueWriter(this, entry, MappedField.ValuesOf(position));
        reader.Read(document, ref values);
        if (values.LeastLength == 0)
        {
            return;
        }

        var least = _least.AsSpan(0, values.LeastLength);
        var greatest = _greatest.AsSpan(0, values.GreatestLength);
        entry.SetSortKey(MappedField.ValuesOf(position), least);
        if (!greatest.SequenceEqual(least))
        {
            entry.SetSortKey(MappedField.GreatestOf(position), greatest);
        }

        entry.Add(MappedField.PresenceOf(position), MappedField.AnyValue);
        if (field.HasExactValues)
        {
            var exact = new ExactWriter(entry, MappedField.ExactValuesOf(position));
            reader.Read(document, ref exact);
        }

        if (field.Analyzer is { } analyzer)
        {
            var words = new WordWriter(analyzer, _text, entry, MappedField.WordsOf(position));
            reader.Read(document, ref words);
            if (words.Length > 0)
            {
                entry.SetWordCount(MappedField.WordsOf(position), words.Length);
            }
        }
    }

    private struct ValueWriter(FieldEntryWriter writer, IndexEntry entry, int field) : IValueVisitor
    {
        public int LeastLength;

        public int GreatestLength;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            var key = writer._key.AsSpan(0, TermKey.Write(json, isExact: false, writer._key));
            entry.Add(field, key);
            if (LeastLength == 0 || key.SequenceCompareTo(writer._least.AsSpan(0, LeastLength)) < 0)
            {
                key.CopyTo(writer._least);
                LeastLength = key.Length;
            }

            if (GreatestLength == 0 || key.SequenceCompareTo(writer._greatest.AsSpan(0, GreatestLength)) > 0)
            {
                key.CopyTo(writer._greatest);
                GreatestLength = key.Length;
            }

            return true;
        }
    }

    private readonly struct ExactWriter(IndexEntry entry, int field) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            entry.AddWrittenTerm(field, TermKey.Write(json, isExact: true, entry.Room(TermKey.MaxBytes)));
            return true;
        }
    }

    private struct WordWriter(Analyzer analyzer, SearchableText text, IndexEntry entry, int field)
        : IValueVisitor,
            ITokenSink
    {
        private int _position;

        public int Length;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            if (_position > MaxPositions)
            {
                throw new IndexEntryException("A field has more words and values than can be searched for.");
            }

            _position = analyzer.Analyze(text.Of(json), AnalysisPurpose.Index, _position, ref this) + Analyzer.ValueGap;
            return true;
        }

        public bool Add(scoped in Token token)
        {
            entry.AddWord(field, token.Bytes, token.Position);
            Length++;
            return true;
        }
    }
}

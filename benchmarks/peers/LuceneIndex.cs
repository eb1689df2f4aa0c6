using System.Diagnostics;
using System.Text;
using System.Text.Json;
using Lucene.Net.Analysis;
using Lucene.Net.Analysis.Core;
using Lucene.Net.Analysis.Miscellaneous;
using Lucene.Net.Analysis.Standard;
using Lucene.Net.Documents;
using Lucene.Net.Index;
using Lucene.Net.Search;
using Lucene.Net.Search.Similarities;
using Lucene.Net.Store;
using Lucene.Net.Util;

namespace Rookery.Peers;

/// <summary>
/// An index of Lucene.Net with its standard analyzer, which also removes accents as Rookery's does, BM25, default
/// merges and files mapped into memory.
/// </summary>
internal sealed class LuceneIndex : IQuerySubject, IDisposable
{
    private const string Stored = "document";

    private readonly string _field;
    private readonly DirectoryReader _reader;
    private readonly IndexSearcher _searcher;

    public LuceneIndex(string directory, string field)
    {
        _field = field;
        _reader = DirectoryReader.Open(new MMapDirectory(directory));
        _searcher = new IndexSearcher(_reader) { Similarity = new BM25Similarity() };
    }

    /// <summary>Indexes a file of lines of id, tab and JSON, on one thread, and commits.</summary>
    public static void Build(string documents, string field, string directory)
    {
        long begun = Stopwatch.GetTimestamp();
        using var analyzer = CreateAnalyzer();
        using var target = new MMapDirectory(directory);
        var options = new IndexWriterConfig(LuceneVersion.LUCENE_48, analyzer)
        {
            RAMBufferSizeMB = 64,
            Similarity = new BM25Similarity(),
        };
        using (var writer = new IndexWriter(target, options))
        {
            var words = new TextField(field, string.Empty, Field.Store.NO);
            var stored = new StoredField(Stored, Array.Empty<byte>());
            var document = new Document { words, stored };
            foreach (string line in File.ReadLines(documents))
            {
                byte[] json = Encoding.UTF8.GetBytes(line[(line.IndexOf('\t', StringComparison.Ordinal) + 1)..]);
                using var parsed = JsonDocument.Parse(json);
                words.SetStringValue(
                    parsed.RootElement.TryGetProperty(field, out var value) ? value.ToString() : string.Empty
                );
                stored.SetBytesValue(json);
                writer.AddDocument(document);
            }

            writer.Commit();
        }

        Console.WriteLine($"s {Stopwatch.GetElapsedTime(begun).TotalSeconds:0.000}");
        Console.WriteLine($"bytes {new DirectoryInfo(directory).EnumerateFiles().Sum(static file => file.Length)}");
        using var process = Process.GetCurrentProcess();
        Console.WriteLine($"peak-MiB {process.PeakWorkingSet64 / 1048576.0:0.0}");
    }

    public Func<AskedQuery, long> BeginSession() =>
        asked =>
        {
            var query = new BooleanQuery();
            foreach (string word in asked.Parameter.Split(' '))
            {
                query.Add(new TermQuery(new Term(_field, word)), Occur.MUST);
            }

            var top = _searcher.Search(query, 10);
            foreach (var hit in top.ScoreDocs)
            {
                _ = _searcher.Doc(hit.Doc).GetBinaryValue(Stored);
            }

            return top.TotalHits;
        };

    public void Dispose() => _reader.Dispose();

    // Without the last filter, `pedro` does not find `Pédro`, and the two engines find different documents.
    private static Analyzer CreateAnalyzer() =>
        Analyzer.NewAnonymous(
            static (_, text) =>
            {
                var words = new StandardTokenizer(LuceneVersion.LUCENE_48, text);
                TokenStream folded = new LowerCaseFilter(
                    LuceneVersion.LUCENE_48,
                    new StandardFilter(LuceneVersion.LUCENE_48, words)
                );
                folded = new StopFilter(LuceneVersion.LUCENE_48, folded, StandardAnalyzer.STOP_WORDS_SET);
                return new TokenStreamComponents(words, new ASCIIFoldingFilter(folded));
            }
        );
}

using System.Buffers.Binary;
using BenchmarkDotNet.Attributes;
using Rookery.Platform;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;
using Rookery.Storage.Runs;

namespace Rookery.MicroBenchmarks;

/// <summary>
/// Costs per row of writing files, as flushes, merges and index batches do, on a disk in memory: a run of 10,000 rows,
/// and an index segment of 10,000 documents with three terms each.
/// </summary>
[MemoryDiagnoser]
public class FileBenchmarks
{
    private const int Rows = 10_000;
    private const string Directory = "/data";

    private readonly MemoryBudget _budget = new(512L << 20);
    private readonly IndexEntry _entry = new();
    private readonly byte[] _value = new byte[150];
    private SegmentStoreContext _segments;

    public FileBenchmarks() =>
        _segments = new SegmentStoreContext(
            new SimulatedDisk(Directory),
            new SegmentCache(_budget.AddShare("pages", 16L << 20)),
            _budget.AddShare("batches", 64L << 20),
            NoRecorder.Instance
        );

    [GlobalSetup]
    public void FillValue()
    {
        for (int at = 0; at < _value.Length; at++)
        {
            _value[at] = (byte)('a' + (at % 17));
        }
    }

    [Benchmark(OperationsPerInvoke = Rows)]
    public long Write_a_row_of_a_run()
    {
        var disk = new SimulatedDisk(Directory);
        var options = new RunWriterOptions(4096, HasFilter: true, SyncsRegularly: false, IoKind.RunWrite);
        using var writer = new RunWriter(disk, $"{Directory}/1.run", 1, options, NoRecorder.Instance);
        Span<byte> key = stackalloc byte[12];
        "orders/A"u8.CopyTo(key);
        for (int row = 0; row < Rows; row++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key[8..], row);
            writer.Add(key, row, RowKind.Put, _value);
        }

        return writer.Finish().FileBytes;
    }

    [Benchmark(OperationsPerInvoke = Rows)]
    public long Index_a_document_into_a_segment()
    {
        _segments = _segments with { Disk = new SimulatedDisk(Directory) };
        using var store = SegmentStore.Open(_segments, Directory);
        Span<byte> id = stackalloc byte[12];
        Span<byte> term = stackalloc byte[8];
        "orders/a"u8.CopyTo(id);
        for (int document = 0; document < Rows; document++)
        {
            BinaryPrimitives.WriteInt32BigEndian(id[8..], document);
            _entry.Clear();
            for (int field = 0; field < 3; field++)
            {
                int distinctTerms = 10 << (4 * field); // 10, 160 and 2,560
                BinaryPrimitives.WriteInt64BigEndian(term, document % distinctTerms);
                _entry.Add(field, term);
            }

            _entry.EndEntry();
            store.Put(id, document + 1, _entry);
        }

        store.Apply(Rows);
        return store.Documents;
    }
}

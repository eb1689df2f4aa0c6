using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using K4os.Compression.LZ4;

namespace Rookery.Benchmarks;

/// <summary>
/// Compares the system's liblz4 with a managed LZ4, on blocks of the sizes that Rookery compresses: values of an index
/// (4 KiB), blocks of a run (16 KiB), and journal frames (64 KiB, 1 MiB).
/// </summary>
internal static partial class Lz4Subjects
{
    private static readonly int[] BlockSizes = [4 << 10, 16 << 10, 64 << 10, 1 << 20];
    private static readonly Subject[] Subjects =
    [
        new("liblz4", Native, NativeDecompress),
        new("managed", Managed, ManagedDecompress),
    ];

    private delegate int Work(ReadOnlySpan<byte> source, Span<byte> target);

    /// <summary>Prints the rates of both libraries for each size, and their ratio.</summary>
    public static int Compare(string file, double seconds)
    {
        const int Rounds = 5;
        byte[] text = File.ReadAllBytes(file);
        foreach (int size in BlockSizes)
        {
            var blocks = Blocks.Of(text, size);
            foreach (bool isDecompression in (bool[])[false, true])
            {
                var ratios = new List<double>();
                var rates = new List<(double Native, double Managed)>();
                long allocated = 0;
                for (int round = 0; round < Rounds; round++)
                {
                    double native = Rate(Subjects[0], blocks, isDecompression, seconds, out _);
                    double managed = Rate(Subjects[1], blocks, isDecompression, seconds, out allocated);
                    rates.Add((native, managed));
                    ratios.Add(managed / native);
                }

                ratios.Sort();
                var (one, other) = rates.OrderBy(static rate => rate.Managed / rate.Native).ElementAt(Rounds / 2);
                string direction = isDecompression ? "decompress" : "compress";
                Console.WriteLine(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{size >> 10} KiB {direction}: liblz4 {one:0} MB/s, managed {other:0} MB/s, "
                            + $"ratio {ratios[Rounds / 2]:0.00} ({ratios[0]:0.00} to {ratios[^1]:0.00}), "
                            + $"{allocated} bytes allocated in the last round"
                    )
                );
            }
        }

        return 0;
    }

    /// <summary>Runs one subject <paramref name="count"/> times, for a tool that counts its instructions.</summary>
    public static int Repeat(string name, string file, int size, string direction, int count)
    {
        var subject = Array.Find(Subjects, one => string.Equals(one.Name, name, StringComparison.Ordinal))!;
        var blocks = Blocks.Of(File.ReadAllBytes(file), size);
        blocks.Pack(subject);
        for (int i = 0; i < count; i++)
        {
            blocks.Do(subject, i, string.Equals(direction, "back", StringComparison.Ordinal));
        }

        Console.WriteLine($"{count} times {size} bytes, {blocks.PackedBytes} of {blocks.Bytes} bytes packed");
        return 0;
    }

    // Returns megabytes of uncompressed data a second.
    private static double Rate(Subject subject, Blocks blocks, bool isDecompression, double seconds, out long allocated)
    {
        blocks.Pack(subject);
        // Runs the code first, so that the just-in-time compiler has optimised it before the measurement.
        for (int i = 0; i < 200; i++)
        {
            blocks.Do(subject, i, isDecompression);
        }

        long before = GC.GetAllocatedBytesForCurrentThread();
        long started = Stopwatch.GetTimestamp();
        long bytes = 0;
        for (int i = 0; Stopwatch.GetElapsedTime(started).TotalSeconds < seconds; i++)
        {
            bytes += blocks.Do(subject, i, isDecompression);
        }

        double elapsedSeconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        return bytes / elapsedSeconds / 1e6;
    }

    private static unsafe int Native(ReadOnlySpan<byte> source, Span<byte> target)
    {
        fixed (byte* from = source)
        fixed (byte* to = target)
        {
            return CompressDefault(from, to, source.Length, target.Length);
        }
    }

    private static unsafe int NativeDecompress(ReadOnlySpan<byte> source, Span<byte> target)
    {
        fixed (byte* from = source)
        fixed (byte* to = target)
        {
            return DecompressSafe(from, to, source.Length, target.Length);
        }
    }

    private static int Managed(ReadOnlySpan<byte> source, Span<byte> target) => LZ4Codec.Encode(source, target);

    private static int ManagedDecompress(ReadOnlySpan<byte> source, Span<byte> target) =>
        LZ4Codec.Decode(source, target);

    [LibraryImport("liblz4.so.1", EntryPoint = "LZ4_compress_default")]
    private static unsafe partial int CompressDefault(byte* source, byte* target, int sourceBytes, int targetBytes);

    [LibraryImport("liblz4.so.1", EntryPoint = "LZ4_decompress_safe")]
    private static unsafe partial int DecompressSafe(byte* source, byte* target, int sourceBytes, int targetBytes);

    private sealed record Subject(string Name, Work Compress, Work Decompress);

    private sealed class Blocks(List<byte[]> raw, int size)
    {
        private const int MaxBlocks = 256;

        private readonly byte[] _target = new byte[size];
        private List<byte[]> _packed = [];

        public long Bytes => raw.Sum(static block => (long)block.Length);

        public long PackedBytes => _packed.Sum(static block => (long)block.Length);

        public static Blocks Of(byte[] text, int size)
        {
            var raw = new List<byte[]>();
            for (int at = 0; at + size <= text.Length && raw.Count < MaxBlocks; at += size)
            {
                raw.Add(text[at..(at + size)]);
            }

            return new Blocks(raw, size);
        }

        public void Pack(Subject subject) =>
            _packed = [.. raw.Select(block => _target[..subject.Compress(block, _target)])];

        public int Do(Subject subject, int number, bool isDecompression)
        {
            int at = number % raw.Count;
            int done = isDecompression ? subject.Decompress(_packed[at], _target) : subject.Compress(raw[at], _target);
            return done > 0 ? raw[at].Length : throw new InvalidOperationException($"{subject.Name}: {done} bytes.");
        }
    }
}

using System.Diagnostics;
using System.Globalization;

namespace Rookery.Benchmarks;

/// <summary>
/// Compares <see cref="DenseHash"/> with <see cref="Dictionary{TKey,TValue}"/>: bytes, inserts and gets of random keys,
/// whose values are the numbers from 0 on in random order.
/// </summary>
internal static class MapSubjects
{
    private const string DictionaryName = "dictionary";
    private static readonly int[] Chains = [1, 2, 4, 8, 12, 16];

    /// <summary>Prints bytes and times of all subjects, which run alternately.</summary>
    public static int Compare(int count)
    {
        const int Rounds = 5;
        var keys = Keys.Of(count);
        string[] names =
        [
            DictionaryName,
            .. Chains.Select(static chain => chain.ToString(CultureInfo.InvariantCulture)),
        ];
        var figures = names.ToDictionary(static name => name, static _ => new List<Figures>(), StringComparer.Ordinal);
        for (int round = 0; round <= Rounds; round++)
        {
            foreach (string name in names)
            {
                var measured = Measure(name, keys);
                if (round > 0) // the first round only lets the just-in-time compiler optimise the code
                {
                    figures[name].Add(measured);
                }
            }
        }

        Console.WriteLine("map, buckets of a chain\tMB\tns an insert\tns a get\tns a get of a missing key\tmean chain");
        foreach (string name in names)
        {
            var all = figures[name];
            Console.WriteLine(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{name}\t{all[0].Bytes / 1e6:0.0}\t{Median(all, static one => one.Insert):0}\t"
                        + $"{Median(all, static one => one.Get):0}\t{Median(all, static one => one.Miss):0}\t"
                        + $"{all[0].MeanChain:0.00}"
                )
            );
        }

        return 0;
    }

    /// <summary>
    /// Inserts the keys once and gets each of them <paramref name="gets"/> times, for a tool that counts instructions.
    /// </summary>
    /// <param name="name"><c>dictionary</c>, or the most buckets of a chain.</param>
    /// <param name="count">Number of keys.</param>
    /// <param name="gets">How often each key is read; 0 for inserts only.</param>
    public static int Repeat(string name, int count, int gets)
    {
        var keys = Keys.Of(count);
        using var map = Open(name);
        map.Insert(keys.Present);
        long found = 0;
        for (int i = 0; i < gets; i++)
        {
            found += map.Get(keys.Shuffled);
        }

        Console.WriteLine($"{count} keys, {found} found");
        return 0;
    }

    private static Figures Measure(string name, Keys keys)
    {
        long before = GC.GetTotalMemory(forceFullCollection: true);
        using var map = Open(name);
        long started = Stopwatch.GetTimestamp();
        map.Insert(keys.Present);
        double insert = Nanoseconds(started, keys.Present.Length);
        long managed = GC.GetTotalMemory(forceFullCollection: true) - before;
        started = Stopwatch.GetTimestamp();
        long found = map.Get(keys.Shuffled);
        double get = Nanoseconds(started, keys.Present.Length);
        started = Stopwatch.GetTimestamp();
        long foundMissing = map.Get(keys.Missing);
        double miss = Nanoseconds(started, keys.Missing.Length);
        return found == keys.Present.Length && foundMissing == 0
            ? new Figures(map.Bytes ?? managed, insert, get, miss, map.MeanChain)
            : throw new InvalidOperationException($"{name}: found {found} keys, and {foundMissing} missing ones.");
    }

    private static double Nanoseconds(long started, int count) =>
        Stopwatch.GetElapsedTime(started).TotalNanoseconds / count;

    private static double Median(List<Figures> all, Func<Figures, double> of) =>
        all.Select(of).Order().ElementAt(all.Count / 2);

    private sealed record Figures(long Bytes, double Insert, double Get, double Miss, double MeanChain);

    private sealed record Keys(ulong[] Present, (ulong Key, ulong Value)[] Shuffled, (ulong Key, ulong Value)[] Missing)
    {
        public static Keys Of(int count)
        {
            var random = new Random(7);
            ulong[] keys = new ulong[count];
            for (int i = 0; i < count; i++)
            {
                keys[i] = Next(random) << 1; // even; the missing keys are odd
            }

            (ulong Key, ulong Value)[] shuffled = [.. keys.Select(static (key, i) => (key, (ulong)i))];
            random.Shuffle(shuffled);
            return new Keys(keys, shuffled, [.. shuffled.Select(static pair => (pair.Key | 1, 0UL))]);
        }

        private static ulong Next(Random random) => (ulong)random.NextInt64(long.MinValue, long.MaxValue);
    }

    private static ISubject Open(string name) =>
        string.Equals(name, DictionaryName, StringComparison.Ordinal)
            ? new DictionarySubject()
            : new DenseSubject(int.Parse(name, CultureInfo.InvariantCulture));

    private interface ISubject : IDisposable
    {
        // Null if all of them are managed.
        long? Bytes { get; }

        double MeanChain { get; }

        void Insert(ulong[] keys);

        // Returns the number of keys that are found with their value.
        long Get((ulong Key, ulong Value)[] pairs);
    }

    private sealed class DictionarySubject : ISubject
    {
        private readonly Dictionary<long, long> _map = [];

        public long? Bytes => null;

        public double MeanChain => 0;

        public void Insert(ulong[] keys)
        {
            for (int i = 0; i < keys.Length; i++)
            {
                _map.Add((long)keys[i], i);
            }
        }

        public long Get((ulong Key, ulong Value)[] pairs)
        {
            long found = 0;
            foreach (var (key, value) in pairs)
            {
                found += _map.TryGetValue((long)key, out long stored) && stored == (long)value ? 1 : 0;
            }

            return found;
        }

        public void Dispose() { }
    }

    private sealed class DenseSubject(int maxChain) : ISubject
    {
        private readonly DenseHash _map = new(maxChain);

        public long? Bytes => _map.Bytes;

        public double MeanChain => _map.MeanChain;

        public void Insert(ulong[] keys)
        {
            for (int i = 0; i < keys.Length; i++)
            {
                if (!_map.TryAdd(keys[i], (ulong)i))
                {
                    throw new InvalidOperationException("The keys are not different.");
                }
            }
        }

        public long Get((ulong Key, ulong Value)[] pairs)
        {
            long found = 0;
            foreach (var (key, value) in pairs)
            {
                found += _map.TryGet(key, out ulong stored) && stored == value ? 1 : 0;
            }

            return found;
        }

        public void Dispose() => _map.Dispose();
    }
}

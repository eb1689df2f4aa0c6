using System.Buffers;
using System.Globalization;
using System.Numerics;
using System.Text;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Reducing;
using Rookery.Platform;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// A sum of document numbers has all their digits, with or without the interpreter, in any order and after any partial
/// sums.
/// </summary>
public sealed class ReduceSumTests
{
    private const int Rounds = 400;

    // Digits after the point of the expected sums: more than any number of the tests has.
    private const int Places = 400;

    private static readonly string[] JavaScript =
    [
        "groupBy(r => r.k).aggregate(g => ({ k: g.key, c: g.values.reduce((n, v) => n + v.c, 0) }))",
        "groupBy(r => r.k).aggregate(g => ({ k: g.key, c: g.values.reduce((n, v) => v.c + n, 0) }))",
        "groupBy(r => r.k).aggregate(g => ({ k: g.key, c: g.values.reduce((n, v) => n + (v.c || 0), 0) }))",
        "groupBy(r => r.k).aggregate(g => ({ k: g.key, c: g.values.map(v => v.c).reduce((n, c) => n + c) + false }))",
        "groupBy(r => r.k).aggregate(g => { let n = null; for (const v of g.values) { n += v.c; } "
            + "return { k: g.key, c: n }; })",
    ];

    private static readonly string[] CSharp =
    [
        "from r in results group r by r.k into g select new { k = g.Key, c = g.Sum(x => x.c) }",
        "from r in results group r by r.k into g select new { k = g.Key, c = g.Sum(x => x.c ?? 0) }",
        "from r in results group r by r.k into g select new { k = g.Key, c = g.Select(x => x.c).Sum() }",
    ];

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Sums_are_exact_on_every_path_in_any_order_and_in_any_parts(bool isCSharp)
    {
        var reduces = (isCSharp ? CSharp : JavaScript).Select(IndexScript.CompileReduce).ToList();
        Assert.NotNull(reduces[0].Plain);
        reduces.Add(reduces[0] with { Plain = null });
        ReduceRunner[] runners = [.. reduces.Select(static reduce => new ReduceRunner(reduce))];
        for (int seed = 0; seed < Rounds; seed++)
        {
            var random = new Random(seed);
            string[] numbers = NumbersOf(random);
            string? expected = null;
            foreach (var runner in runners)
            {
                random.Shuffle(numbers);
                string atOnce = Reduce(runner, [.. numbers.Select(RowOf)]);
                expected ??= atOnce;
                Assert.True(
                    string.Equals(expected, atOnce, StringComparison.Ordinal),
                    $"Seed {seed}: {atOnce} instead of {expected} of {string.Join(' ', numbers)}"
                );
                random.Shuffle(numbers);
                string inParts = ReduceInParts(runner, random, [.. numbers.Select(RowOf)]);
                Assert.True(
                    string.Equals(expected, inParts, StringComparison.Ordinal),
                    $"Seed {seed}: {inParts} in parts instead of {expected} of {string.Join(' ', numbers)}"
                );
            }

            string sum = expected!["{\"k\":1,\"c\":".Length..^1];
            Assert.Equal(numbers.Aggregate(BigInteger.Zero, static (all, one) => all + UnitsOf(one)), UnitsOf(sum));
            if (isCSharp)
            {
                // One addend with a point or an exponent makes the sum a double, even if it is integral.
                Assert.Equal(numbers.Any(IsReal), IsReal(sum));
            }
            else
            {
                Assert.Equal(sum, GroupByInParts(random, numbers));
            }
        }

        Array.ForEach(runners, static runner => runner.Dispose());
    }

    /// <summary>Only the final sum must fit its type, not the intermediate ones.</summary>
    [Theory]
    [InlineData("g.Sum(x => (int)x.c)", "2147483647 1 -1 -1", "2147483646")]
    [InlineData("g.Sum(x => (int)x.c)", "2147483647 1 -2 2", null)]
    [InlineData("g.Sum(x => (long)x.c)", "9223372036854775807 1 -1 5 -5", "9223372036854775807")]
    [InlineData("g.Sum(x => (long)x.c)", "9223372036854775807 1", null)]
    [InlineData("g.Sum(x => (long)x.c)", "-9223372036854775808 -1", null)]
    [InlineData("g.Sum(x => x.c * 1)", "9223372036854775807 1 -1", "9223372036854775807")]
    [InlineData("g.Sum(x => x.c > 5 ? x.c : 0)", "9223372036854775807 3 9223372036854775807", "18446744073709551614")]
    [InlineData(
        "g.Sum(x => (decimal)x.c)",
        "79228162514264337593543950335 1 -1 -0.25",
        "79228162514264337593543950335"
    )]
    [InlineData("g.Sum(x => (decimal)x.c)", "79228162514264337593543950335 1", null)]
    [InlineData(
        "g.Sum(x => (decimal)x.c)",
        "1000000000000000000000000000 0.04 0.04 0.04",
        "1000000000000000000000000000.1"
    )]
    [InlineData("\"\" + g.Sum(x => (decimal)x.c)", "1.50 1.5", "\"3.00\"")]
    [InlineData("g.Sum(x => (double)x.c)", "100000000000000 0.1 0.2 0.3 0.4", "100000000000001.0")]
    [InlineData("g.Sum(x => (double)x.c)", "1e300 0.5 -1e300", "0.5")]
    [InlineData("g.Sum(x => x.c > 1 ? (float)x.c : 0.5f)", "16777216 1 1 1 1", "16777218.0")]
    [InlineData("g.Sum(x => x.c > 1 ? (double)x.c : 1)", "9007199254740992 1 1", "9007199254740994.0")]
    public void The_type_of_a_sum_bounds_only_the_sum(string aggregate, string numbers, string? sum)
    {
        var compiled = IndexScript.CompileReduce(
            $"from r in results group r by r.k into g select new {{ k = g.Key, c = {aggregate} }}"
        );
        using var runner = new ReduceRunner(compiled);
        string[] rows = [.. numbers.Split(' ').Select(RowOf)];
        var random = new Random(3);
        for (int order = 0; order < 24; order++)
        {
            random.Shuffle(rows);
            if (sum is null)
            {
                var failed = Assert.Throws<ReduceException>(() => Reduce(runner, rows));
                Assert.Contains("larger than its type allows", failed.Message, StringComparison.Ordinal);
            }
            else
            {
                Assert.Equal(RowOf(sum), Reduce(runner, rows));
            }
        }
    }

    [Fact]
    public void A_decimal_and_a_double_are_not_added_in_any_order()
    {
        foreach (string values in (string[])["1m 0.5", "0.5 1m", "1 0.5 1m"])
        {
            // The text does not determine the type of what is computed from the document.
            string[] arrays =
            [
                .. values
                    .Split(' ')
                    .Select(static value => value is "0.5" ? "u.b.Select(x => x * 0.5)" : $"new[] {{ {value} }}"),
            ];
            string joined = string.Join(".Concat(", arrays) + new string(')', arrays.Length - 1);
            Assert.Contains(
                "a decimal and a double, for which C# requires a cast",
                DefinitionExample.Map($"docs.Select(u => new {{ v = {joined}.Sum() }})", """{"b":[1]}"""),
                StringComparison.Ordinal
            );
        }
    }

    [Theory]
    [InlineData("0.1 0.1 0.1", "-0.3")]
    [InlineData("9007199254740993 1e-20", "-9007199254740993.00000000000000000001")]
    [InlineData("1e300 0.5 -1e300", "-0.5")]
    public void A_number_that_JavaScript_subtracts_counts_with_all_its_digits(string numbers, string sum)
    {
        const string Text =
            "groupBy(r => r.k).aggregate(g => ({ k: g.key, c: g.values.reduce((n, v) => n - v.c, null) }))";
        Assert.Equal(RowOf(sum), DefinitionExample.Reduce(Text, [.. numbers.Split(' ').Select(RowOf)]));
    }

    /// <summary>Returns <c>group by … sum(c)</c> of numbers, in parts as an automatic index keeps them.</summary>
    private static string GroupByInParts(Random random, string[] numbers)
    {
        var written = new PooledBytes();
        var whole = new Accumulator();
        for (int from = 0; from < numbers.Length; )
        {
            var part = new Accumulator();
            int count = random.Next(1, numbers.Length - from + 1);
            foreach (string number in numbers.AsSpan(from, count))
            {
                part.Add(AggregateKind.Sum, Encoding.ASCII.GetBytes(number), memory: null);
            }

            written.Clear();
            part.AppendPart(AggregateKind.Sum, count, written);
            whole.AddPart(AggregateKind.Sum, written.Written);
            from += count;
        }

        written.Clear();
        whole.Append(AggregateKind.Sum, numbers.Length, written);
        string sum = Encoding.ASCII.GetString(written.Written);
        written.Release();
        return sum;
    }

    private static bool IsReal(string number) => number.AsSpan().IndexOfAny(".eE") >= 0;

    private static string RowOf(string number) => $$"""{"k":1,"c":{{number}}}""";

    private static string ReduceInParts(ReduceRunner runner, Random random, string[] rows)
    {
        var left = rows.ToList();
        while (left.Count > 1)
        {
            int count = random.Next(1, left.Count + 1);
            string part = Reduce(runner, [.. left.Take(count)]);
            left.RemoveRange(0, count);
            left.Insert(random.Next(left.Count + 1), part);
        }

        return Reduce(runner, [.. left]);
    }

    private static string Reduce(ReduceRunner runner, string[] rows)
    {
        var page = new ReducePage();
        for (int i = 0; i < rows.Length; i++)
        {
            page.Add((UInt128)i, Encoding.ASCII.GetBytes(rows[i]));
        }

        var output = new ArrayBufferWriter<byte>();
        runner.Reduce(new ReduceRows(page, 0, rows.Length), output);
        page.Release();
        return Encoding.ASCII.GetString(output.WrittenSpan);
    }

    private static string[] NumbersOf(Random random)
    {
        // One kind of number or two: with all of them, the widest type would always win.
        int[] kinds = [random.Next(11), random.Next(11)];
        var numbers = Enumerable
            .Range(0, random.Next(1, 20))
            .Select(_ => NumberOf(random, kinds[random.Next(2)]))
            .ToList();

        // Subtracting added numbers again shows lost digits.
        foreach (string number in numbers.Where(_ => random.Next(3) == 0).ToList())
        {
            numbers.Add(number[0] == '-' ? number[1..] : "-" + number);
        }

        return [.. numbers];
    }

    private static string NumberOf(Random random, int kind)
    {
        string sign = random.Next(3) == 0 ? "-" : "";
        return kind switch
        {
            0 => sign + random.Next(1000).ToString(CultureInfo.InvariantCulture),
            1 => sign + (long.MaxValue - random.Next(3)).ToString(CultureInfo.InvariantCulture),
            2 => sign + random.NextInt64().ToString(CultureInfo.InvariantCulture),
            3 => $"{sign}{random.Next(1, 10)}{Digits(random, random.Next(40))}",
            4 => $"{sign}{random.Next(100_000)}.{Digits(random, 2)}",
            5 => $"{sign}0.{Digits(random, random.Next(1, 60))}",
            6 => $"{sign}{random.Next(1, 10)}.{Digits(random, random.Next(1, 20))}e{random.Next(-300, 300)}",
            7 => BitConverter
                .Int64BitsToDouble(random.NextInt64(0x7FE0_0000_0000_0000))
                .ToString("R", CultureInfo.InvariantCulture),
            8 => sign + (random.Next(2) == 0 ? "1e300" : "9e307"),
            9 => sign + (random.Next(2) == 0 ? "5e-324" : "0.000001"),
            _ => (random.NextDouble() * 3).ToString("R", CultureInfo.InvariantCulture),
        };
    }

    private static string Digits(Random random, int count) =>
        string.Concat(Enumerable.Range(0, count).Select(_ => (char)('0' + random.Next(10))));

    private static BigInteger UnitsOf(string number)
    {
        string[] halves = number.Split('e', 'E');
        string[] parts = halves[0].Split('.');
        string fraction = parts.ElementAtOrDefault(1) ?? "";
        int exponent = halves.Length > 1 ? int.Parse(halves[1], CultureInfo.InvariantCulture) : 0;
        return BigInteger.Parse(parts[0] + fraction, CultureInfo.InvariantCulture)
            * BigInteger.Pow(10, Places + exponent - fraction.Length);
    }
}

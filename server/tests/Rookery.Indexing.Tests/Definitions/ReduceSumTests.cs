using System.Buffers;
using System.Globalization;
using System.Numerics;
using System.Text;
using CsCheck;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// A sum of document numbers has all their digits, with or without the interpreter, in any order and after any partial
/// sums.
/// </summary>
public sealed class ReduceSumTests
{
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
        var reduces = (isCSharp ? CSharp : JavaScript).Select(static text => IndexScript.CompileReduce(text)).ToList();
        Assert.NotNull(reduces[0].Plain);
        reduces.Add(reduces[0] with { Plain = null });
        ReduceRunner[] runners = [.. reduces.Select(static reduce => new ReduceRunner(reduce))];
        // The order and the parts come from a seed, which hardly adds to the size of a case.
        Gen.Select(Numbers, Gen.Int[0, 99])
            .CheckEach(
                400,
                one =>
                {
                    string[] numbers = [.. one.Item1];
                    var random = new Random(one.Item2);
                    string? expected = null;
                    foreach (var runner in runners)
                    {
                        random.Shuffle(numbers);
                        string atOnce = Reduce(runner, [.. numbers.Select(RowOf)]);
                        expected ??= atOnce;
                        Assert.Equal(expected, atOnce);
                        random.Shuffle(numbers);
                        Assert.Equal(expected, ReduceInParts(runner, random, [.. numbers.Select(RowOf)]));
                    }

                    string sum = expected!["{\"k\":1,\"c\":".Length..^1];
                    Assert.Equal(
                        numbers.Aggregate(BigInteger.Zero, static (all, one) => all + UnitsOf(one)),
                        UnitsOf(sum)
                    );
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
            );
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
        var total = new Accumulator();
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
            total.AddPart(AggregateKind.Sum, written.Written);
            from += count;
        }

        written.Clear();
        total.Append(AggregateKind.Sum, numbers.Length, written);
        string sum = Encoding.ASCII.GetString(written.Written);
        written.Release();
        return sum;
    }

    private static bool IsReal(string number) => number.AsSpan().IndexOfAny(".eE") >= 0;

    private static string RowOf(string number) => $$"""{"k":1,"c":{{number}}}""";

    private static string ReduceInParts(ReduceRunner runner, Random random, string[] rows)
    {
        var remaining = rows.ToList();
        while (remaining.Count > 1)
        {
            int count = random.Next(1, remaining.Count + 1);
            string part = Reduce(runner, [.. remaining.Take(count)]);
            remaining.RemoveRange(0, count);
            remaining.Insert(random.Next(remaining.Count + 1), part);
        }

        return Reduce(runner, [.. remaining]);
    }

    private static string Reduce(ReduceRunner runner, string[] rows)
    {
        var page = new ReducePage();
        for (int i = 0; i < rows.Length; i++)
        {
            page.Add((UInt128)i, Encoding.ASCII.GetBytes(rows[i]));
        }

        var output = new ArrayBufferWriter<byte>();
        runner.Reduce(new ReduceRows(page, first: 0, rows.Length), output);
        page.Release();
        return Encoding.ASCII.GetString(output.WrittenSpan);
    }

    private static readonly Gen<string>[] Kinds =
    [
        Gen.Int[0, 999].Select(static value => $"{value}"),
        Gen.Long[long.MaxValue - 2, long.MaxValue].Select(static value => $"{value}"),
        Gen.Long[0, long.MaxValue].Select(static value => $"{value}"),
        Gen.Select(Gen.Int[1, 9], Digits(minLength: 0, maxLength: 39), static (first, more) => $"{first}{more}"),
        Gen.Select(Gen.Int[0, 99_999], Digits(minLength: 2, maxLength: 2), static (whole, part) => $"{whole}.{part}"),
        Digits(minLength: 1, maxLength: 59).Select(static part => $"0.{part}"),
        Gen.Select(
            Gen.Int[1, 9],
            Digits(minLength: 1, maxLength: 19),
            Gen.Int[-300, 299],
            static (whole, part, power) => $"{whole}.{part}e{power}"
        ),
        Gen.Long[0, 0x7FDF_FFFF_FFFF_FFFF]
            .Select(static bits => BitConverter.Int64BitsToDouble(bits).ToString("R", CultureInfo.InvariantCulture)),
        Gen.OneOf("1e300", "9e307"),
        Gen.OneOf("5e-324", "0.000001"),
        Gen.Double[0, 3].Select(static value => value.ToString("R", CultureInfo.InvariantCulture)),
    ];

    // The numbers of a case are of one kind or two: with all kinds, the widest type would always decide. Some numbers
    // are subtracted again, which shows lost digits.
    private static readonly Gen<string[]> Numbers = Gen.Int[0, Kinds.Length - 1]
        .Array[2]
        .SelectMany(static kinds =>
            Gen.Select(
                Gen.Frequency((2, ""), (1, "-")),
                Gen.OneOf(Kinds[kinds[0]], Kinds[kinds[1]]),
                Gen.Frequency((2, false), (1, true)),
                static (sign, number, isTwice) =>
                    isTwice ? new[] { sign + number, (sign.Length == 0 ? "-" : "") + number } : [sign + number]
            ).Array[1, 19]
        )
        .Select(static numbers => numbers.SelectMany(static one => one).ToArray());

    private static Gen<string> Digits(int minLength, int maxLength) =>
        Gen.String[Gen.Char['0', '9'], minLength, maxLength];

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

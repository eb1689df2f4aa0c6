using System.Buffers;
using System.Globalization;
using System.Text;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Maps and reduces that run without the interpreter give its results, byte for byte.</summary>
public sealed class PlainScriptTests
{
    private static readonly string[] Names = ["a", "b", "o", "Id", "Count", "Value", "length", "nämé"];

    [Theory]
    [InlineData("map('Users', d => ({ key: d.country, count: 1, total: d.lat || 0 }))")]
    [InlineData("map('Users', d => { const size = d.size ?? 1; return { size, name: d.name && d.o.name }; })")]
    [InlineData(
        "map('Users', function (d) { return { text: 'a\"b\\n', none: null, gone: undefined, yes: true, n: -0.5 }; })"
    )]
    [InlineData("from d in docs.Users select new { d.Name, d.Id, Count = 1 }")]
    [InlineData("from d in docs.Users let o = d.o select new { o.x, d.Count }")]
    [InlineData("docs.Users.Select(d => new { d.a, Deep = d.b.c.d })")]
    public void A_map_that_only_reads_members_needs_no_interpreter(string text) =>
        Assert.NotNull(IndexScript.CompileMap(text).Plain);

    [Theory]
    [InlineData("map('Users', d => ({ a: d.a + 1 }))")]
    [InlineData("map('Users', d => ({ a: d.name.length }))")]
    [InlineData("map('Users', d => ({ a: d['@metadata'] }))")]
    [InlineData("map('Users', d => { const c = load(d.b, 'Companies'); return { a: d.a }; })")]
    [InlineData("map('Users', d => { let a = d.a; a = 2; return { a }; })")]
    [InlineData("map('Users', d => { if (d.a) { return { a: 1 }; } })")]
    [InlineData("map('Users', d => [{ a: 1 }, { a: 2 }])")]
    [InlineData("map('Users', d => ({ a: 1, a: 2 }))")]
    [InlineData("map('Users', d => ({ a: { b: d.b } }))")]
    [InlineData("from d in docs.Users where d.a > 1 select new { d.a }")]
    [InlineData("from d in docs.Users select new { d.a.Count }")]
    [InlineData("docs.SelectMany(d => d.lines, (d, line) => new { line.a })")]
    public void Other_maps_are_left_to_the_interpreter(string text) => Assert.Null(IndexScript.CompileMap(text).Plain);

    /// <summary>
    /// A plain map counts no steps, and each member of a member is searched in all bytes of the member before it.
    /// </summary>
    [Theory]
    [InlineData("d.a.b", 64)]
    [InlineData("d.a.b.c", 32)]
    [InlineData("d.a || 1", 64)]
    [InlineData("d.a.b || 1", 32)]
    public void A_map_that_reads_many_whole_values_is_left_to_the_interpreter(string value, int most)
    {
        Assert.NotNull(IndexScript.CompileMap($"map('Users', d => ({{ {Members(value, most)} }}))").Plain);
        Assert.Null(IndexScript.CompileMap($"map('Users', d => ({{ {Members(value, most + 1)} }}))").Plain);
        Assert.NotNull(PlainOf(most));
        Assert.Null(PlainOf(most + 1));

        PlainReduce? PlainOf(int count) =>
            IndexScript
                .CompileReduce(
                    $"groupBy(d => ({{ {Members(value, count)} }})).aggregate(g => ({{ n: g.key.n1, "
                        + "c: g.values.reduce((s, r) => s + r.c, 0) }))"
                )
                .Plain;

        static string Members(string value, int count) =>
            string.Join(", ", Enumerable.Range(1, count).Select(number => $"n{number}: {value}"));
    }

    [Fact]
    public void A_variable_defined_by_itself_is_left_to_the_interpreter_or_refused()
    {
        foreach (
            string text in (string[])
                [
                    "map('Users', d => { const a = a; return { a }; })",
                    "map('Users', d => { const a = a.b; return { a }; })",
                    "map('Users', d => { const a = b || 1; const b = a || 1; return { a, b }; })",
                ]
        )
        {
            try
            {
                Assert.Null(IndexScript.CompileMap(text).Plain);
            }
            catch (ScriptException)
            {
                // The interpreter rejects it.
            }
        }
    }

    [Fact]
    public void Random_maps_give_the_same_rows_without_the_interpreter() =>
        CheckMaps(random =>
            $"map('Users', d => ({{ {Members(random, ": ", static random => Value(random, level: 0))} }}))"
        );

    [Fact]
    public void Random_maps_in_LINQ_give_the_same_rows_without_the_interpreter() =>
        CheckMaps(random =>
        {
            // A map with an unused variable would be left to the interpreter.
            string members = Members(random, " = ", static random => LinqValue(random, level: 0));
            string variable =
                members.Contains(" o.", StringComparison.Ordinal) || members.Contains("(o.", StringComparison.Ordinal)
                    ? "let o = d.o "
                    : "";
            return $"from d in docs.Users {variable}select new {{ {members} }}";
        });

    [Theory]
    [InlineData(
        "groupBy(r => r.a).aggregate(g => ({ a: g.key, b: g.values.reduce((n, v) => n + v.b, 0), again: "
            + "g.values.reduce((n, v) => v.b + n, 0) }))"
    )]
    [InlineData(
        "groupBy(r => ({ a: r.a, x: r.x })).aggregate(g => ({ a: g.key.a, x: g.key.x, b: g.values.reduce((n, "
            + "v) => n + v.b, 0), c: g.values.reduce((n, v) => n + v.c, 0) }))"
    )]
    [InlineData(
        "from r in results group r by r.a into g select new { a = g.Key, b = g.Sum(x => x.b), c = g.Sum(x => x.c) }"
    )]
    [InlineData("results.GroupBy(r => new { r.a, r.x }).Select(g => new { g.Key.a, g.Key.x, b = g.Sum(x => x.b) })")]
    public void Sums_are_the_same_without_the_interpreter(string text)
    {
        var reduce = IndexScript.CompileReduce(text);
        Assert.NotNull(reduce.Plain);
        var random = new Random(12);
        using var plain = new ReduceRunner(reduce);
        using var interpreted = new ReduceRunner(reduce with { Plain = null });

        bool isJavaScript = text.StartsWith("groupBy", StringComparison.Ordinal);
        const int Groups = 2000;
        int summed = 0;
        for (int i = 0; i < Groups; i++)
        {
            // Most values are numbers, so that many groups are summed without the interpreter.
            bool hasUnusualValues = random.Next(4) == 0;
            byte[][] rows =
            [
                .. Enumerable
                    .Range(0, 1 + random.Next(20))
                    .Select(_ =>
                        Encoding.UTF8.GetBytes(
                            $$"""{"a":{{Json(random, level: 1)}},"b":{{SummedValue()}},"x":"{{random.Next(3)}}"{{OtherMember()}}}"""
                        )
                    ),
            ];

            bool IsUnusual() => hasUnusualValues && random.Next(8) == 0;
            string SummedValue() =>
                !IsUnusual() ? Number(random)
                : isJavaScript ? "[null]"
                : Json(random, level: 1);
            string OtherMember() => IsUnusual() ? "" : $",\"c\":{Number(random)}";

            foreach (byte[] row in rows)
            {
                Assert.Equal(
                    Encoding.UTF8.GetString(interpreted.KeyOf(row)),
                    Encoding.UTF8.GetString(plain.KeyOf(row))
                );
            }

            Assert.Equal(Reduce(rows, interpreted.Reduce), Reduce(rows, plain.Reduce));
            _ = Reduce(
                rows,
                (in ReduceRows group, IBufferWriter<byte> output) =>
                    summed += reduce.Plain.TryReduce(group, plain.KeyOf(group[0]), output) ? 1 : 0
            );
        }

        Assert.InRange(summed, Groups / 2, Groups - 1);
    }

    [Theory]
    [InlineData(
        "groupBy(r => r.a.toLowerCase()).aggregate(g => ({ a: g.key, b: g.values.reduce((n, v) => n + v.b, 0) }))"
    )]
    [InlineData("groupBy(r => r.a).aggregate(g => ({ a: g.key, b: g.values.reduce((n, v) => n + v.b, 1) }))")]
    [InlineData("groupBy(r => r.a).aggregate(g => ({ a: g.key, b: g.values.reduce((n, v) => n + v.b * 2, 0) }))")]
    [InlineData("groupBy(r => r.a).aggregate(g => ({ a: g.key, b: g.values.length }))")]
    [InlineData("from r in results group r by r.a into g select new { a = g.Key, b = g.Max(x => x.b) }")]
    [InlineData("from r in results group r by r.a into g select new { a = g.Key, b = g.Sum(x => x.Id) }")]
    public void Other_reduces_are_left_to_the_interpreter(string text) =>
        Assert.Null(IndexScript.CompileReduce(text).Plain);

    // Random maps of random documents have the same results with and without the interpreter.
    private static void CheckMaps(Func<Random, string> text)
    {
        const int Maps = 1500;
        const int Documents = 8;
        var random = new Random(11);
        var sink = new GrowableBytes();
        int plain = 0;
        int written = 0;
        for (int i = 0; i < Maps; i++)
        {
            var map = IndexScript.CompileMap(text(random));
            plain += map.Plain is null ? 0 : 1;
            string[] documents = [.. Enumerable.Range(0, Documents).Select(_ => Document(random))];
            string expected = DefinitionExample.MapAll(map with { Plain = null }, documents);
            Assert.Contains("{", expected, StringComparison.Ordinal);
            Assert.Equal(expected, DefinitionExample.MapAll(map, documents));
            written += map.Plain is { } row
                ? documents.Count(document =>
                    row.TryWrite(new DocumentView(StoredExample.Store("users/1", document)).Body, int.MaxValue, sink)
                )
                : 0;
        }

        Assert.InRange(plain, Maps / 3, Maps - 1);
        Assert.InRange(written, plain * Documents / 2, (plain * Documents) - 1);
    }

    private static string Reduce(byte[][] rows, GroupReduce reduce)
    {
        var page = new ReducePage();
        for (int i = 0; i < rows.Length; i++)
        {
            page.Add((UInt128)i, rows[i]);
        }

        var output = new ArrayBufferWriter<byte>();
        try
        {
            reduce(new ReduceRows(page, first: 0, rows.Length), output);
        }
        catch (ReduceException failed)
        {
            return failed.Message;
        }
        finally
        {
            page.Release();
        }

        return Encoding.UTF8.GetString(output.WrittenSpan);
    }

    private static string Members(Random random, string isValue, Func<Random, string> value) =>
        string.Join(
            ", ",
            Enumerable.Range(0, 1 + random.Next(4)).Select(number => $"m{number}{isValue}{value(random)}")
        );

    private static string LinqValue(Random random, int level) =>
        random.Next(level < 2 ? 9 : 7) switch
        {
            0 => random.Next(2) == 0 ? "\"x\\\"y\"" : "1.50",
            1 => random.Next(3) switch
            {
                0 => "null",
                1 => "true",
                _ => "\"\"",
            },
            2 => random.Next(3) switch
            {
                0 => "d.Id",
                1 => "d.Count",
                _ => "d.Value",
            },
            3 => random.Next(2) == 0 ? "o.x" : "o.a",
            4 => random.Next(3) switch
            {
                0 => "o.Value",
                1 => "d.a.Count",
                _ => "d.o.b.x",
            },
            5 or 6 => $"d.{Names[random.Next(3)]}",
            _ => $"({LinqValue(random, level + 1)} ?? {LinqValue(random, level + 1)})",
        };

    private static string Value(Random random, int level) =>
        random.Next(level < 2 ? 8 : 4) switch
        {
            0 => random.Next(2) == 0 ? "'x\"y\\\\'" : "''",
            1 => random.Next(4) switch
            {
                0 => "null",
                1 => "true",
                2 => "undefined",
                _ => "1.50",
            },
            2 => $"d.{Names[random.Next(Names.Length)]}",
            3 => $"d.{Names[random.Next(Names.Length)]}.{Names[random.Next(Names.Length)]}",
            4 => $"({Value(random, level + 1)} || {Value(random, level + 1)})",
            5 => $"({Value(random, level + 1)} ?? {Value(random, level + 1)})",
            6 => $"({Value(random, level + 1)} && {Value(random, level + 1)})",
            _ => $"({Value(random, level + 1)} ? {Value(random, level + 1)} : 2)",
        };

    private static string Document(Random random) =>
        $$"""{{{string.Join(',', Names.Append("n\\u0061").OrderBy(_ => random.Next()).Take(random.Next(9)).Select(name => $"\"{(random.Next(9) == 0 ? name.Replace("a", "\\u0061", StringComparison.Ordinal) : name)}\":{Json(random, level: 0)}").DistinctBy(static member => member[..3]).Append("\"@metadata\":{\"@collection\":\"Users\"}"))}}{{""}}}""";

    private static string Json(Random random, int level) =>
        random.Next(level < 2 ? 10 : 7) switch
        {
            0 => "null",
            1 => "true",
            2 => "false",
            3 => "\"\"",
            4 => "\"t\\\"ä\\u0041\"",
            5 => Number(random),
            6 => "0",
            7 => $"[{Json(random, level + 1)},{Json(random, level + 1)}]",
            8 => $"{{\"{Names[random.Next(Names.Length)]}\":{Json(random, level + 1)}}}",
            _ => $"{{\"a\":{Json(random, level + 1)},\"x\":{Json(random, level + 1)}}}",
        };

    private static string Number(Random random) =>
        random.Next(10) switch
        {
            0 => "0",
            1 => "-0",
            2 => "0.0",
            3 => random.NextInt64().ToString(CultureInfo.InvariantCulture),
            4 => random.NextDouble().ToString("R", CultureInfo.InvariantCulture),
            5 => (random.NextDouble() * Math.Pow(10, random.Next(-320, 308))).ToString(
                "R",
                CultureInfo.InvariantCulture
            ),
            6 => $"-{random.Next(100_000)}.{random.Next(100_000):D5}",
            7 => $"0.{new string('0', random.Next(20))}{random.Next(1000)}",
            8 => $"{random.Next(1000)}.{random.NextInt64(1_000_000_000_000)}",
            _ => random.Next(1000).ToString(CultureInfo.InvariantCulture),
        };

    private delegate void GroupReduce(in ReduceRows rows, IBufferWriter<byte> output);
}

using System.Globalization;
using System.Text.Json;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Scanning;

/// <summary>
/// Compares answers of scans to random queries over random documents with an independent implementation of the rules
/// that uses no term keys.
/// </summary>
public sealed class ScanModelTests
{
    private const int DocumentsPerSeed = 30;

    [Fact]
    public void Random_conditions_match_by_the_rules()
    {
        int matched = 0;
        int compared = 0;
        for (int seed = 0; seed < 60; seed++)
        {
            (RandomQueries queries, string[] bodies, JsonElement[] parsed, ScanExample example) = DrawDocuments(seed);
            for (int query = 0; query < 60; query++)
            {
                Condition condition = queries.Condition(3);
                string[] expected =
                [
                    .. Enumerable
                        .Range(1, bodies.Length)
                        .Where(number => NaiveCondition.Holds(condition, parsed[number - 1]))
                        .Select(static number => $"users/{number}"),
                ];
                IReadOnlyList<string> actual = example
                    .Ask(
                        Plan(
                            new Query
                            {
                                Text = "",
                                Source = All,
                                Where = condition,
                            }
                        )
                    )
                    .Results;
                Assert.True(
                    expected.SequenceEqual(actual, StringComparer.Ordinal),
                    $"seed {seed}, query {query}: {condition}\nexpected {string.Join(' ', expected)}\nfound "
                        + $"{string.Join(' ', actual)}"
                );
                matched += expected.Length;
                compared += bodies.Length;
            }
        }

        Assert.InRange(matched, compared / 10, compared * 9 / 10); // otherwise the test would prove nothing
    }

    [Fact]
    public void Random_orders_sort_as_the_rules_say()
    {
        for (int seed = 100; seed < 140; seed++)
        {
            var random = new Random(seed);
            (RandomQueries queries, string[] bodies, JsonElement[] parsed, ScanExample example) = DrawDocuments(seed);
            for (int query = 0; query < 20; query++)
            {
                OrderKey[] orders =
                [
                    .. Enumerable
                        .Range(0, random.Next(1, 3))
                        .Select(_ => new OrderKey(
                            queries.Field(),
                            OrderKind.Natural,
                            random.Next(2) == 0,
                            Seed: null,
                            Position: 0,
                            (NullPlace)random.Next(3)
                        )),
                ];
                int offset = random.Next(5);
                int limit = random.Next(1, bodies.Length + 5);
                IEnumerable<int> expected = Enumerable
                    .Range(1, bodies.Length)
                    .Order(Comparer<int>.Create((one, other) => Compare(orders, parsed, one, other)))
                    .Skip(offset)
                    .Take(limit);
                IReadOnlyList<string> actual = example
                    .Ask(
                        Plan(
                            new Query
                            {
                                Text = "",
                                Source = All,
                                OrderBy = orders,
                                Offset = new NumberOperand(offset.ToString(CultureInfo.InvariantCulture), Position: 0),
                                Limit = new NumberOperand(limit.ToString(CultureInfo.InvariantCulture), Position: 0),
                            }
                        )
                    )
                    .Results;
                Assert.Equal(expected.Select(static number => $"users/{number}"), actual);
            }
        }
    }

    [Fact]
    public void Random_groups_follow_the_rules()
    {
        for (int seed = 200; seed < 240; seed++)
        {
            (_, string[] bodies, JsonElement[] parsed, ScanExample example) = DrawDocuments(seed);
            // Each key by which documents are grouped, with the value that is aggregated.
            foreach (
                (string key, string value) in new[] { ("l[].a", "l[].b"), ("t[]", "a"), ("l[].a", "a"), ("o.a", "l.b") }
            )
            {
                // An entry is an element of the array, or the document.
                string[] array = key[..(key.IndexOf("[]", StringComparison.Ordinal) is >= 0 and var at ? at : 0)]
                    .Split('.', StringSplitOptions.RemoveEmptyEntries);
                var entries = parsed.SelectMany(document =>
                    (array.Length == 0 ? [document] : NaiveValue.At(document, array)).Select(entry =>
                        (Document: document, Entry: entry)
                    )
                );
                var expected = entries
                    .GroupBy(
                        entry =>
                            KeyOf(
                                entry.Entry,
                                key.Replace("[]", "", StringComparison.Ordinal).Split('.').Skip(array.Length)
                            ),
                        StringComparer.Ordinal
                    )
                    .Select(group =>
                        $"{group.Key} {group.Count()} "
                        + $"{Sum(group.Select(entry => ValuesOf(entry, value, array)))} "
                        + $"{Smallest(group.Select(entry => ValuesOf(entry, value, array)))}"
                    )
                    .Order(StringComparer.Ordinal);
                string query =
                    $"from Users group by {key} select {key} as k, count() as c, sum({value}) as s, min({value}) as m";
                var actual = example
                    .Ask(query)
                    .Results.Select(static row => JsonElement.Parse(row))
                    .Select(static row =>
                        $"{WrittenKey(row.GetProperty("k"))} {row.GetProperty("c")} "
                        + $"{decimal.Parse(row.GetProperty("s").GetRawText(), NumberStyles.Float, CultureInfo.InvariantCulture):G29}"
                        + $" {Canonical(row.GetProperty("m"))}"
                    )
                    .Order(StringComparer.Ordinal);
                Assert.Equal(expected, actual);
            }
        }
    }

    private static readonly Source All = new(SourceKind.AllDocuments, "@all_docs", null, 0);

    private static CompiledQuery Plan(Query query) => CompiledQuery.Compile(query, QueryParameters.None);

    private static (RandomQueries Queries, string[] Bodies, JsonElement[] Parsed, ScanExample Example) DrawDocuments(
        int seed
    )
    {
        var queries = new RandomQueries(new Random(seed));
        string[] bodies = [.. Enumerable.Range(0, DocumentsPerSeed).Select(_ => queries.Document())];
        return (queries, bodies, [.. bodies.Select(static body => JsonElement.Parse(body))], new ScanExample(bodies));
    }

    private static int Compare(OrderKey[] orders, JsonElement[] documents, int one, int other)
    {
        foreach (OrderKey order in orders)
        {
            int result = Compare(
                order,
                FirstValueOf(order, documents[one - 1]),
                FirstValueOf(order, documents[other - 1])
            );
            if (result != 0)
            {
                return result;
            }
        }

        return one.CompareTo(other);
    }

    /// <summary>
    /// Returns the value by which a document is sorted: the first in the order of all values of the field.
    /// </summary>
    private static NaiveValue FirstValueOf(OrderKey order, JsonElement document)
    {
        var values = NaiveValue
            .At(document, ((PathReference)order.Field!).Path.Steps.Select(static step => step.Name))
            .Select(NaiveValue.Of)
            .Order(Comparer<NaiveValue>.Create((one, other) => Compare(order, one, other)))
            .ToList();
        return values.Count == 0 ? new NaiveValue(NaiveKind.Null, Number: 0, "", "") : values[0];
    }

    private static int Compare(OrderKey order, NaiveValue one, NaiveValue other)
    {
        bool isOneNull = one.Kind == NaiveKind.Null;
        return order.Nulls == NullPlace.Default || isOneNull == (other.Kind == NaiveKind.Null)
                ? NaiveValue.Compare(one, other) * (order.IsDescending ? -1 : 1)
            : isOneNull == (order.Nulls == NullPlace.First) ? -1
            : 1;
    }

    /// <summary>
    /// Returns the values of a path in an entry: of the array's element if the path leads through the array, otherwise
    /// of the document.
    /// </summary>
    private static List<JsonElement> ValuesOf(
        (JsonElement Document, JsonElement Entry) entry,
        string path,
        string[] array
    )
    {
        string[] names = path.Replace("[]", "", StringComparison.Ordinal).Split('.');
        return array.Length > 0 && names.Take(array.Length).SequenceEqual(array, StringComparer.Ordinal)
            ? NaiveValue.At(entry.Entry, names.Skip(array.Length))
            : NaiveValue.At(entry.Document, names);
    }

    /// <summary>Returns the group key of an entry, as JSON in one form for equal values.</summary>
    private static string KeyOf(JsonElement entry, IEnumerable<string> steps)
    {
        foreach (string step in steps)
        {
            if (entry.ValueKind == JsonValueKind.Array)
            {
                return $"[{string.Join(',', NaiveValue.At(entry, [step]).Select(WrittenKey))}]";
            }

            if (entry.ValueKind != JsonValueKind.Object || !entry.TryGetProperty(step, out entry))
            {
                return "null";
            }
        }

        return WrittenKey(entry);
    }

    /// <summary>Returns equal keys in the same form, also texts, arrays and objects.</summary>
    private static string WrittenKey(JsonElement json) =>
        json.ValueKind switch
        {
            JsonValueKind.String => JsonSerializer.Serialize(json.GetString()),
            JsonValueKind.Array => $"[{string.Join(',', json.EnumerateArray().Select(WrittenKey))}]",
            JsonValueKind.Object =>
                $"{{{string.Join(',', json.EnumerateObject().OrderBy(static member => member.Name, StringComparer.Ordinal).Select(static member => $"{JsonSerializer.Serialize(member.Name)}:{WrittenKey(member.Value)}"))}"
                    + $"}}",
            _ => Canonical(json),
        };

    private static string Canonical(JsonElement json) =>
        json.ValueKind == JsonValueKind.Number
            ? decimal.Parse(json.GetRawText(), NumberStyles.Float, CultureInfo.InvariantCulture)
                .ToString("G29", CultureInfo.InvariantCulture)
                .Replace("-0", "0", StringComparison.Ordinal)
            : json.GetRawText();

    private static string Sum(IEnumerable<IEnumerable<JsonElement>> values) =>
        values
            .SelectMany(static one => one)
            .Where(static one => one.ValueKind == JsonValueKind.Number)
            .Sum(static one => decimal.Parse(one.GetRawText(), NumberStyles.Float, CultureInfo.InvariantCulture))
            .ToString("G29", CultureInfo.InvariantCulture);

    /// <summary>Returns the smallest value; of equal values, the text with the lowest bytes.</summary>
    private static string Smallest(IEnumerable<IEnumerable<JsonElement>> values)
    {
        var all = values
            .SelectMany(static one => one)
            .Where(static one => one.ValueKind != JsonValueKind.Null)
            .ToList();
        all.Sort(
            static (one, other) =>
                NaiveValue.Compare(NaiveValue.Of(one), NaiveValue.Of(other)) is var order && order != 0
                    ? order
                    : System
                        .Text.Encoding.UTF8.GetBytes(one.GetRawText())
                        .AsSpan()
                        .SequenceCompareTo(System.Text.Encoding.UTF8.GetBytes(other.GetRawText()))
        );
        return all.Count == 0 ? "null" : Canonical(all[0]);
    }
}

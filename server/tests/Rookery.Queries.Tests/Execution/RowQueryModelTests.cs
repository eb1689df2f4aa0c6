using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>
/// Compares answers of static indexes to random queries with evaluating every row that the maps, or a reduce written
/// out here, compute from the documents.
/// </summary>
public sealed class RowQueryModelTests
{
    private const string Lines = "Lines";
    private const string Totals = "Totals";

    private static readonly string[] LineMaps =
    [
        "map('Orders', o => o.lines.map(l => ({ product: l.p, q: l.q, buyer: o.buyer, city: load(o.company, "
            + "'Companies').city })))",
        "from o in docs.Orders from l in o.lines where l.q > 0 select new { product = l.p, q = l.q * 2, "
            + "o.buyer, city = LoadDocument<Company>(o.company, \"Companies\").city }",
    ];

    // Options of moreLikeThis by which every term counts.
    private const string EveryTermCounts = """{"MinimumTermFrequency":1,"MinimumDocumentFrequency":1}""";

    private static readonly string[] Buyers = ["Ann Lee", "Bob Ray", "ann ray", "Cid", ""];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Random_queries_get_the_same_answer_from_an_index_as_from_its_rows(int seed)
    {
        var random = new Random(seed);
        var node = IndexedNode.New();
        int lineMap = 0;
        Define(node, Lines, LineDefinition(lineMap));
        Define(
            node,
            Totals,
            """{"Name":"Totals","Maps":["map('Orders', o => o.lines.map(l => ({ product: l.p, count: 1, q: l.q })))"],"Reduce":"groupBy(x => x.product).aggregate(g => ({ product: g.key, count: g.values.reduce((n, v) => n + v.count, 0), q: g.values.reduce((n, v) => n + v.q, 0) }))","Fields":{"product":{"Indexing":"Search"}}}"""
        );
        int withResults = 0;
        int evaluated = 0;
        int walked = 0;
        for (int round = 0; round < 25; round++)
        {
            Change(random, node);
            if (random.Next(5) == 0)
            {
                Define(node, Lines, LineDefinition(lineMap = 1 - lineMap));
            }

            if (random.Next(5) == 0)
            {
                node = node.Restart(random.Next(2) == 0 ? random.Next() : null);
            }

            node.SettleAll();
            for (int query = 0; query < 20; query++)
            {
                bool isReduced = random.Next(2) == 0;
                string text = isReduced ? DrawTotalQuery(random) : DrawLineQuery(random);
                var walk = ForcedWalk.Any(random);
                using var example = new QueryExample(node, isReduced ? Totals : Lines, text, walk);
                var expected = isReduced ? example.ScanTotals() : example.ScanRows();
                var actual = example.Ask();
                Assert.True(
                    expected.Results.SequenceEqual(actual.Results, StringComparer.Ordinal)
                        && expected.Total == actual.Total,
                    $"seed {seed}, round {round}: {text}\nexpected {expected.Total}: "
                        + $"{string.Join(' ', expected.Results)}\nanswered {actual.Total}: "
                        + $"{string.Join(' ', actual.Results)} (evaluated documents: {actual.EvaluatedDocuments})"
                );
                withResults += actual.Total > 0 ? 1 : 0;
                evaluated += actual.EvaluatedDocuments ? 1 : 0;
                walked += walk?.Completed ?? 0;
            }
        }

        // Otherwise the test would prove nothing.
        Assert.InRange(withResults, 200, 500);
        Assert.InRange(evaluated, 10, 400);
        Assert.InRange(walked, 5, int.MaxValue);
        node.Dispose();
    }

    /// <summary>The example of RavenDB's documentation.</summary>
    [Theory]
    [InlineData(
        "intersect(maker = 'Raven', color = 'Blue' and size = 'Small', color = 'Gray' and size = 'Large')",
        "shirts/1 shirts/4"
    )]
    [InlineData("intersect(color = 'Blue', size = 'Large')", "shirts/1 shirts/2 shirts/4")]
    [InlineData("intersect(color = 'Blue', size = 'Large') order by year desc limit 2", "shirts/4 shirts/2")]
    [InlineData("intersect(color = 'Blue', not size = 'Large') filter year > 2010", "shirts/2 shirts/4")]
    [InlineData("intersect(color = 'Blue', color = 'Pink')", "")]
    [InlineData("color = 'Blue' and size = 'Large'", "")]
    public void Each_condition_of_an_intersection_may_match_another_row_of_the_document(string where, string ids)
    {
        using var node = IndexedNode.New();
        Define(
            node,
            "Shirts",
            """{"Name":"Shirts","Maps":["from s in docs.Shirts from t in s.types select new { s.maker, s.year, t.color, t.size }"]}"""
        );
        const string Blue = """{"color":"Blue","size":"Small"}""";
        const string Gray = """{"color":"Gray","size":"Large"}""";
        node.Put("shirts/1", $"\"maker\":\"Raven\",\"year\":2010,\"types\":[{Blue},{{}},{Gray}]", "Shirts");
        node.Put("shirts/2", $"\"maker\":\"Wolf\",\"year\":2011,\"types\":[{Blue},{{\"size\":\"Large\"}}]", "Shirts");
        node.Put("shirts/3", $"\"maker\":\"Raven\",\"year\":2012,\"types\":[{Gray}]", "Shirts");
        node.Put("shirts/4", $"\"maker\":\"Raven\",\"year\":2013,\"types\":[{Blue},{Gray}]", "Shirts");
        node.SettleAll();
        using var example = new QueryExample(node, "Shirts", $"from index 'Shirts' where {where}", walk: null);
        var (results, total, _) = example.Ask();
        Assert.Equal(ids, string.Join(' ', results));
        Assert.Equal(where.Contains("limit", StringComparison.Ordinal) ? 3 : results.Count, total);
    }

    [Theory]
    [InlineData("year > 2010 and intersect(color = 'Blue', size = 'Large')")]
    [InlineData("not intersect(color = 'Blue', size = 'Large')")]
    [InlineData("intersect(color = 'Blue', intersect(size = 'Large', year > 2010))")]
    public void An_intersection_inside_other_conditions_of_an_index_is_refused(string where)
    {
        using var node = IndexedNode.New();
        Define(
            node,
            "Shirts",
            """{"Name":"Shirts","Maps":["docs.Shirts.Select(s => new { s.year, s.color, s.size })"]}"""
        );
        node.SettleAll();
        using var example = new QueryExample(node, "Shirts", $"from index 'Shirts' where {where}", walk: null);
        var refusal = Assert.Throws<QueryException>(() => example.Ask());
        Assert.Equal(QueryFault.NotSupported, refusal.Fault);
        Assert.Contains("'intersect' inside another condition", refusal.Message, StringComparison.Ordinal);
    }

    private static string LineDefinition(int lineMap) =>
        """{"Name":"Lines","Maps":["""
        + JsonSerializer.Serialize(LineMaps[lineMap])
        + """],"Fields":{"product":{"Indexing":"Exact","Storage":"Yes"},"buyer":{"Indexing":"Search"}}}""";

    private static void Define(IndexedNode node, string name, string definition)
    {
        using var json = JsonDocument.Parse(definition);
        node.ChangeIndexes(writer =>
            writer.Put(name, StaticIndexRequest.Parse(json.RootElement).Definition.ToJson(), settings: default)
        );
    }

    private static void Change(Random random, IndexedNode node)
    {
        for (int change = random.Next(12); change >= 0; change--)
        {
            string id = $"orders/{random.Next(25)}";
            if (random.Next(6) == 0)
            {
                node.Put(
                    $"companies/{random.Next(3)}",
                    $"\"city\":\"{(random.Next(2) == 0 ? "Ulm" : "Bonn")}\"",
                    "Companies"
                );
            }
            else if (random.Next(5) == 0)
            {
                node.Delete(id);
            }
            else
            {
                string lines = string.Join(
                    ',',
                    Enumerable
                        .Range(0, random.Next(5))
                        .Select(_ =>
                            $$"""{"p":"{{(random.Next(3) == 0 ? "P" : "p")}}{{random.Next(4)}}","q":{{random.Next(6)}}}"""
                        )
                );
                node.Put(
                    id,
                    $"\"buyer\":\"{Buyers[random.Next(Buyers.Length)]}"
                        + $"\",\"company\":\"companies/{random.Next(4)}\",\"lines\":[{lines}]",
                    "Orders"
                );
            }
        }
    }

    private static string DrawLineQuery(Random random)
    {
        string Condition() =>
            random.Next(14) switch
            {
                12 => $"moreLikeThis(id() = 'orders/{random.Next(25)}', '{EveryTermCounts}')",
                13 => "moreLikeThis(city = 'ulm', "
                    + "'{\"MinimumTermFrequency\":2,\"MinimumDocumentFrequency\":2,\"Fields\":[\"buyer\"],"
                    + "\"Boost\":true}')",
                0 => $"product = 'p{random.Next(4)}'",
                1 => $"exact(product = 'P{random.Next(4)}')",
                2 => $"q > {random.Next(6)}",
                3 => $"q between {random.Next(4)} and {random.Next(12)}",
                4 => "search(buyer, 'ann')",
                5 => "search(buyer, 'lee r*')",
                6 => $"not product = 'p{random.Next(4)}'",
                7 => "city = 'ulm'",
                8 => "exists(city)",
                9 => $"id() = 'ORDERS/{random.Next(25)}'",
                10 => $"product in ('p1', 'p{random.Next(4)}')",
                _ => "exact(city = 'Ulm')",
            };
        string where =
            random.Next(6) == 0
                ? ""
                : " where "
                    + Condition()
                    + (random.Next(2) == 0 ? "" : (random.Next(2) == 0 ? " and " : " or ") + Condition());
        string[] orders =
        [
            "",
            "",
            " order by q",
            " order by q desc, product",
            " order by product desc",
            " order by city, q as long",
            " order by score()",
            " order by random('x')",
            " order by id() desc",
        ];
        string filter = random.Next(8) == 0 ? " filter buyer = 'ann lee'" : "";
        string[] selections =
        [
            "",
            "",
            " select buyer",
            " select product",
            " select product as p, buyer",
            " select distinct product",
            " select distinct buyer",
        ];
        return $"from index 'Lines'{where}{orders[random.Next(orders.Length)]}{filter}"
            + $"{selections[random.Next(selections.Length)]}{DrawPage(random)}";
    }

    private static string DrawTotalQuery(Random random)
    {
        string[] conditions =
        [
            "",
            "",
            " where count > 2",
            " where product = 'p1'",
            " where q between 3 and 20",
            " where search(product, 'p*')",
            " where not product = 'P2'",
            $" where moreLikeThis(count > 1, '{EveryTermCounts}')",
            $" where count > 1 or moreLikeThis('{{\"product\":\"p1 P2 p1\"}}', '{EveryTermCounts}')",
            " where exact(product = 'P3') or count = 1",
        ];
        string[] orders = ["", "", " order by count desc", " order by q as double, product", " order by product"];
        string[] selections = ["", "", " select product", " select count as n, q", " select distinct count"];
        string filter = random.Next(6) == 0 ? " filter q > 4" : "";
        return $"from index 'Totals'{conditions[random.Next(conditions.Length)]}{orders[random.Next(orders.Length)]}"
            + $"{filter}{selections[random.Next(selections.Length)]}{DrawPage(random)}";
    }

    private static string DrawPage(Random random) =>
        random.Next(2) == 0 ? "" : $" limit {random.Next(4)}, {random.Next(8)}";

    /// <summary>One query, answered by an index and by evaluating all rows.</summary>
    private sealed class QueryExample : IDisposable
    {
        private const long PlentyBytes = 64 << 20;

        // The answer when moreLikeThis has no document to compare with.
        private const string NoModel = "no model";

        private readonly IndexedNode _node;
        private readonly IndexedQueries _queries;
        private readonly RowSource _rows;
        private readonly Query _query;
        private readonly QueryMemory _memory = new(new MemoryBudget(PlentyBytes).AddShare("queries", PlentyBytes));
        private readonly List<IDisposable> _disposables = [];

        public QueryExample(IndexedNode node, string index, string text, OrderWalk? walk)
        {
            _node = node;
            _queries = new IndexedQueries(node.Host) { OrderWalk = walk };
            _rows = _queries.FindRowSource(node.Database(), index)!;
            _query = RqlParser.Parse(text);
            _query = _query with { Source = _query.Source with { Kind = SourceKind.AllDocuments, Name = "@all_docs" } };
        }

        public (IReadOnlyList<string> Results, long Total) ScanRows()
        {
            var plan = Plan(out var words);
            foreach (var model in plan.ModelQueries)
            {
                using var finder = model.Finder.Start(_memory, new PatientClock());
                Walk(
                    (in QueriedDocument document, IReadOnlyList<byte[]> rows) =>
                        _ = model.Condition.HasModel || model.TrySetModel(document, [.. rows], finder)
                );
            }

            if (plan.ModelQueries.Any(static model => !model.Condition.HasModel))
            {
                return ([NoModel], 0);
            }

            Walk(
                (in QueriedDocument document, IReadOnlyList<byte[]> rows) =>
                {
                    foreach (byte[] row in rows)
                    {
                        words.CountWords(document.WithRow(row), new PatientClock());
                    }
                }
            );
            using var run = plan.Start(_memory, new PatientClock());
            Walk((in QueriedDocument document, IReadOnlyList<byte[]> rows) => run.AddRows(document, rows));
            var end = run.Finish();
            return ([.. end.Documents.Select(one => WriteResult(plan, one.Id, one.Row.Span))], end.TotalResults);
        }

        /// <summary>Returns the answer of all totals, which are computed here and not by the index's reduce.</summary>
        public (IReadOnlyList<string> Results, long Total) ScanTotals()
        {
            var totals = new Dictionary<string, (int Count, int Quantity)>(StringComparer.Ordinal);
            using (var reader = _node.Database().OpenReader())
            {
                using var documents = reader.SeekByCollection("Orders"u8);
                while (documents.MoveNext())
                {
                    using var json = JsonDocument.Parse($"{{{Encoding.UTF8.GetString(documents.View.Body)}}}");
                    foreach (var line in json.RootElement.GetProperty("lines").EnumerateArray())
                    {
                        string product = line.GetProperty("p").GetString()!;
                        var (count, quantity) = totals.GetValueOrDefault(product);
                        totals[product] = (count + 1, quantity + line.GetProperty("q").GetInt32());
                    }
                }
            }

            byte[][] rows =
            [
                .. totals
                    .OrderBy(static one => one.Key, StringComparer.Ordinal)
                    .Select(static one =>
                        Encoding.UTF8.GetBytes(
                            $"\"product\":\"{one.Key}\",\"count\":{one.Value.Count},\"q\":{one.Value.Quantity}"
                        )
                    ),
            ];
            var plan = Plan(out var words);
            foreach (var model in plan.ModelQueries)
            {
                using var finder = model.Finder.Start(_memory, new PatientClock());
                if (!rows.Any(row => model.TrySetModel(document: default, [row], finder)))
                {
                    return ([NoModel], 0);
                }
            }

            Array.ForEach(rows, row => words.CountWords(new QueriedDocument(row), new PatientClock()));
            using var run = plan.Start(_memory, new PatientClock());
            Array.ForEach(rows, row => run.AddRows(document: default, [row]));
            var end = run.Finish();
            return ([.. end.Documents.Select(one => WriteResult(plan, one.Id, one.Row.Span))], end.TotalResults);
        }

        public (IReadOnlyList<string> Results, long Total, bool EvaluatedDocuments) Ask()
        {
            var plan = Plan(out _);
            if (!plan.ModelQueries.All(TrySetModel))
            {
                return ([NoModel], 0, false);
            }

            using var answer = _queries.TryAnswer(
                _node.Database(),
                _rows.IndexName,
                plan,
                _memory,
                new PatientClock()
            )!;
            if (!answer.AreCandidates)
            {
                return (
                    [
                        .. answer.Documents.Select(
                            (one, place) =>
                                WriteResult(plan, one.Id, plan.ReturnsEachRow ? answer.ReadRow(place) : default)
                        ),
                    ],
                    answer.TotalResults!.Value,
                    false
                );
            }

            using var run = plan.Start(_memory, new PatientClock());
            using var snapshotReader = _node.Database().OpenReader();
            using var mapped = new IndexRows(_rows, _node.Database(), () => snapshotReader);
            for (int place = 0; place < answer.Documents.Count; place++)
            {
                if (_rows.IsReduced)
                {
                    run.AddRows(document: default, [answer.ReadRow(place).ToArray()]);
                    continue;
                }

                using var reader = _node.Database().OpenReader();
                Assert.True(reader.TryGetDocument(answer.Documents[place].Id.Span, out var document));
                using (document)
                {
                    var queried = new QueriedDocument(
                        document.View,
                        document.Etag,
                        Encoding.ASCII.GetBytes(_node.Database().HistoryId)
                    );
                    run.AddRows(queried, mapped.Of(queried));
                }
            }

            var end = run.Finish();
            return ([.. end.Documents.Select(one => WriteResult(plan, one.Id, one.Row.Span))], end.TotalResults, true);
        }

        private bool TrySetModel(ModelQuery model)
        {
            using var answer = _queries.TryAnswer(
                _node.Database(),
                _rows.IndexName,
                model.Finder,
                _memory,
                new PatientClock()
            )!;
            using var finder = model.Finder.Start(_memory, new PatientClock());
            using var snapshotReader = _node.Database().OpenReader();
            using var mapped = new IndexRows(_rows, _node.Database(), () => snapshotReader);
            for (int place = 0; place < answer.Documents.Count && !model.Condition.HasModel; place++)
            {
                if (_rows.IsReduced)
                {
                    model.TrySetModel(document: default, [answer.ReadRow(place).ToArray()], finder);
                    continue;
                }

                using var reader = _node.Database().OpenReader();
                Assert.True(reader.TryGetDocument(answer.Documents[place].Id.Span, out var document));
                using (document)
                {
                    var queried = new QueriedDocument(
                        document.View,
                        document.Etag,
                        Encoding.ASCII.GetBytes(_node.Database().HistoryId)
                    );
                    model.TrySetModel(queried, mapped.Of(queried), finder);
                }
            }

            return model.Condition.HasModel;
        }

        public void Dispose()
        {
            Assert.Equal(0, _memory.HeldBytes);
            _disposables.ForEach(static one => one.Dispose());
        }

        private delegate void TakeRows(in QueriedDocument document, IReadOnlyList<byte[]> rows);

        private void Walk(TakeRows take)
        {
            using var snapshotReader = _node.Database().OpenReader();
            using var mapped = new IndexRows(_rows, _node.Database(), () => snapshotReader);
            using var reader = _node.Database().OpenReader();
            using var documents = reader.SeekByEtag(0);
            while (documents.MoveNext())
            {
                var document = new QueriedDocument(
                    documents.View,
                    documents.Etag,
                    Encoding.ASCII.GetBytes(_node.Database().HistoryId)
                );
                take(document, mapped.Of(document));
            }
        }

        private CompiledQuery Plan(out FullTextConditions words)
        {
            words = new FullTextConditions(_rows.AnalyzerOf, _rows.WordFields);
            _disposables.Add(words);
            return CompiledQuery.Compile(_query, QueryParameters.None, words, _rows);
        }

        private string WriteResult(CompiledQuery plan, ReadOnlyMemory<byte> id, ReadOnlySpan<byte> row)
        {
            if (plan.ReturnsDocuments)
            {
                return _rows.IsReduced
                    ? Encoding.UTF8.GetString(row)
                    : Encoding.UTF8.GetString(id.Span).ToLowerInvariant();
            }

            var output = new ArrayBufferWriter<byte>();
            if (_rows.IsReduced)
            {
                plan.WriteMembers(new QueriedDocument(row), output);
                return Encoding.UTF8.GetString(output.WrittenSpan);
            }

            using var reader = _node.Database().OpenReader();
            Assert.True(reader.TryGetDocument(id.Span, out var document));
            using (document)
            {
                var queried = new QueriedDocument(
                    document.View,
                    document.Etag,
                    Encoding.ASCII.GetBytes(_node.Database().HistoryId)
                );
                plan.WriteMembers(queried.WithRow(row), output);
            }

            return Encoding.UTF8.GetString(output.WrittenSpan);
        }
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}

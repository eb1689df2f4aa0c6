using System.Globalization;
using System.Runtime.CompilerServices;
using Rookery.Documents.Commands;
using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Planning;

/// <summary>Compares the cached choice of an index with a new one.</summary>
public sealed class CoveringIndexesTests
{
    private static readonly string[] Texts =
    [
        "from Users where name = $p",
        "from Users where age > $p order by name",
        "from Users where search(bio, $p)",
        "from Users where exact(name = $p)",
        "from Users order by name",
        "from @all_docs where name = $p",
        "from Users where id() = $p and name = $p",
        "from Users where startsWith(id(), $p) and search(bio, $p)",
        "from Orders where name = $p",
    ];

    private static readonly AutoIndexDefinition[] Definitions =
    [
        new("Users", [FieldOf("name")]),
        new("Users", [FieldOf("age"), FieldOf("name")]),
        new(
            "Users",
            [FieldOf("name", AutoIndexFieldUses.Exact), FieldOf("age"), FieldOf("bio", AutoIndexFieldUses.Search)]
        ),
        new("users", [FieldOf("bio", AutoIndexFieldUses.Search)]),
        new(null, [FieldOf("name")]),
        new("Orders", [FieldOf("name")]),
    ];

    [Fact]
    public void A_cached_choice_equals_a_new_choice()
    {
        int chosen = 0;
        for (int seed = 0; seed < 12; seed++)
        {
            var random = new Random(seed);
            using var node = IndexedNode.New();
            node.CreateDatabase("store");
            for (int i = 0; i < 400; i++)
            {
                Put(node, i, "shop");
                Put(node, i, "store");
            }

            for (int round = 0; round < 150; round++)
            {
                string database = random.Next(3) == 0 ? "store" : "shop";
                Change(node, random, database);
                for (int steps = random.Next(4); steps > 0; steps--)
                {
                    node.Step();
                }

                chosen += CompareChoices(node, Texts[random.Next(Texts.Length)], "shop", $"seed {seed}, round {round}");
                chosen += CompareChoices(
                    node,
                    Texts[random.Next(Texts.Length)],
                    database,
                    $"seed {seed}, round {round}"
                );
            }
        }

        Assert.InRange(chosen, 500, int.MaxValue); // otherwise the test would prove nothing
    }

    [Fact]
    public void A_query_is_analyzed_once_while_the_indexes_are_the_same()
    {
        var parsed = RqlParser.Parse("from Users where name = $p");
        using var node = IndexedNode.New();
        for (int i = 0; i < 400; i++)
        {
            Put(node, i, "shop");
        }

        var (byName, byAge) = (Definitions[0], DefinitionOf("age"));
        node.Define(byName.Name, byName);
        node.Define(byAge.Name, byAge);
        node.SettleAll();
        Assert.Equal(byName.Name, Plan(node, parsed, "shop", usesCache: true).IndexName);
        var known = parsed.CoveringIndexes;
        Assert.NotNull(known);
        Put(node, number: 0, "shop");
        node.SettleAll();
        Assert.Equal(byName.Name, Plan(node, parsed, "shop", usesCache: true).IndexName);
        Assert.Same(known, parsed.CoveringIndexes);

        // The cached choice decides; here the test replaces it by that of another query.
        Assert.True(node.Host.TryGetCatalog(node.Database(), out var catalog));
        parsed.CoveringIndexes = CoveringIndexes.Of(RqlParser.Parse("from Users where age = $p"), catalog.Slots);
        Assert.Equal(byAge.Name, Plan(node, parsed, "shop", usesCache: true).IndexName);

        node.ChangeIndexes(writer => writer.Delete(byAge.Name));
        node.SettleAll();
        Assert.Equal(byName.Name, Plan(node, parsed, "shop", usesCache: true).IndexName);
        Assert.NotSame(known, parsed.CoveringIndexes);
    }

    [Fact]
    public void A_cached_query_keeps_no_database_open()
    {
        var parsed = RqlParser.Parse("from Users where name = $p");
        using var node = IndexedNode.New();
        for (int i = 0; i < 300; i++)
        {
            Put(node, i, "shop");
        }

        node.Define(Definitions[0].Name, Definitions[0]);
        node.SettleAll();
        var index = PlanWithIndex(node, parsed);
        node.Run(CommandEncoder.DeleteDatabases(["shop"]));
        node.CreateDatabase("shop");
        node.SettleAll();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        Assert.False(index.TryGetTarget(out _), "The cached choice keeps the deleted index alive.");
        Assert.NotNull(parsed.CoveringIndexes);
        Assert.NotNull(Plan(node, parsed, "shop", usesCache: true).ToDefine);
    }

    // A separate method, so that no local variable keeps the objects alive.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference<object> PlanWithIndex(IndexedNode node, Query parsed)
    {
        Assert.True(Plan(node, parsed, "shop", usesCache: true).IsBuilt);
        Assert.NotNull(parsed.CoveringIndexes);
        return new WeakReference<object>(node.Serving(Definitions[0].Name));
    }

    private static AutoIndexDefinition DefinitionOf(string field) => new("Users", [FieldOf(field)]);

    private static AutoIndexField FieldOf(string name, AutoIndexFieldUses uses = AutoIndexFieldUses.None) =>
        new([name], uses);

    /// <summary>
    /// Fails if the cached choice of a query's index differs from a new one. Returns 1 if an index was chosen.
    /// </summary>
    private static int CompareChoices(IndexedNode node, string text, string database, string context)
    {
        var parsed = ParsedQueries.Read(text);
        var known = Plan(node, parsed, database, usesCache: true);
        var fresh = Plan(node, parsed, database, usesCache: false);
        Assert.True(
            known with { Reasons = [], ToDefine = null } == fresh with { Reasons = [], ToDefine = null }
                && string.Equals(known.ToDefine?.Name, fresh.ToDefine?.Name, StringComparison.Ordinal),
            $"{context}, {database}, {text}: cached is {known}, and a new choice is {fresh}"
        );
        return known is { IndexName: not null, ToDefine: null } ? 1 : 0;
    }

    private static IndexChoice Plan(IndexedNode node, Query parsed, string database, bool usesCache)
    {
        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        var plan = CompiledQuery.Compile(parsed, QueryParameters.Read("""{"p":"7"}"""u8), words);
        return new IndexedQueries(node.Host).ChooseIndex(
            node.Database(database),
            parsed,
            plan.Target,
            explains: !usesCache
        );
    }

    private static void Put(IndexedNode node, int number, string database) =>
        node.Put(
            string.Create(CultureInfo.InvariantCulture, $"users/{number}"),
            string.Create(
                CultureInfo.InvariantCulture,
                $"\"name\":\"n{number}\",\"age\":{number},\"bio\":\"some words\""
            ),
            number % 5 == 0 ? "Orders" : "Users",
            database
        );

    private static void Change(IndexedNode node, Random random, string database)
    {
        var definition = Definitions[random.Next(Definitions.Length)];
        bool exists = node
            .Host.ReadStatus(node.Database(database))
            .Any(status => string.Equals(status.Name, definition.Name, StringComparison.OrdinalIgnoreCase));
        switch (random.Next(9))
        {
            case 0 or 1 or 2:
                node.Define(definition.Name, definition, database);
                break;
            case 3 when exists:
                node.ChangeIndexes(writer => writer.Delete(definition.Name), database);
                break;
            case 4 when exists:
                bool isDisabled = random.Next(2) == 0;
                node.ChangeIndexes(
                    writer => writer.Configure(definition.Name, new IndexSettingsChange(IsDisabled: isDisabled)),
                    database
                );
                break;
            case 5:
                node.Host.SetPaused(node.Database(database), definition.Name, random.Next(2) == 0);
                break;
            case 6:
                node.Host.Reset(node.Database(database), definition.Name);
                break;
            case 7:
                Put(node, random.Next(500), database);
                break;
            default:
                node.Settle();
                break;
        }
    }
}

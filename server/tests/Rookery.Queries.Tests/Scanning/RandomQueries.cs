using System.Text.Json;
using Rookery.Fixtures;
using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Scanning;

/// <summary>
/// Generates documents and conditions from a seed, over few fields and values, so that conditions match.
/// </summary>
/// <param name="random">The source of randomness.</param>
/// <param name="isWide">Whether to generate all kinds of conditions, including those that <see cref="NaiveCondition"/>
/// does not implement.</param>
internal sealed class RandomQueries(Random random, bool isWide = false)
{
    public static readonly string[] Paths = ["a", "b", "o.a", "o.b", "l[].a", "l.b", "t[]", "o", "missing"];

    private static readonly string[] Numbers =
    [
        "0",
        "-0.0",
        "1",
        "1.0",
        "1e1",
        "10",
        "-1",
        "2.5",
        "0.25e1",
        "9007199254740992",
        "9007199254740993",
        "-9007199254740993",
        "1e-7",
    ];

    private static readonly string[] Texts =
    [
        "",
        "a",
        "A",
        "ab",
        "AB",
        "b",
        "\u00c4",
        "\u00e4",
        "\u0130",
        "\ud83d\ude00",
        "1",
        "null",
        "*",
        "\"q\\",
        "2026-11",
        "2026-11-21",
        "2026-11-21T09:49:45",
        "2026-11-21T09:49:45.0000000Z",
        "2026-11-21T10:49:45+01:00",
        "2026-11-21T09:49:45.5Z",
        "2026-13-01T00:00:00",
    ];

    private static readonly string[] Sentences =
    [
        "big fish",
        "Big cats eat fish, big fish!",
        "the fish is big",
        "small fish",
        "fish bowl fish bowl fish",
        "b ab b",
    ];

    private static readonly string[] Searches =
    [
        "fish",
        "big fish",
        "\"big fish\" b",
        "fi* cats",
        "*o*",
        "the",
        "1 b ab",
        "fish fish bowl",
        "2026-11-21",
    ];

    private static readonly string[] Patterns = ["a", "^a", "b$", "^.?$", "x{3}$", "2026-1[12]", "[^a-z]"];

    private static readonly string[] Clauses =
    [
        "a",
        "a*",
        "*b",
        "?",
        "\"big fish\" OR b*",
        "NOT a*",
        "*x AND a*",
        "2026*",
        "big AND fish",
        "+fish -big",
        "fish~ b^2",
        "[a TO fish]",
        "{big TO fish}",
        "*:* -fish",
        "\"big fish\"~3 AND (cats OR bowl)",
        "f?sh",
        "the",
        "1",
        "[* TO b] OR true",
    ];

    private static readonly string[] IdParts = ["users/", "U", "Orders/1", "1", "/2", ""];

    /// <summary>Draws a document, as JSON.</summary>
    public string Document()
    {
        var members = new List<string>();
        foreach (string name in new[] { "a", "b", "o", "l", "t" })
        {
            if (random.Next(5) > 0)
            {
                members.Add($"\"{name}\":{Member(name)}");
            }
        }

        return $"{{{string.Join(',', members)}}}";
    }

    /// <summary>Draws a condition that <c>exact</c> can enclose.</summary>
    private Condition ConditionOnValues(int depth)
    {
        Condition drawn;
        do
        {
            drawn = Condition(depth);
        } while (ComparesWithoutCase(drawn));

        return drawn;
    }

    private static bool ComparesWithoutCase(Condition condition) =>
        condition switch
        {
            SearchCondition or ProximityCondition or FuzzyCondition => true,
            AndCondition and => and.Conditions.Any(ComparesWithoutCase),
            OrCondition or => or.Conditions.Any(ComparesWithoutCase),
            IntersectCondition intersect => intersect.Conditions.Any(ComparesWithoutCase),
            NotCondition not => ComparesWithoutCase(not.Inner),
            BoostCondition boost => ComparesWithoutCase(boost.Inner),
            _ => false,
        };

    /// <summary>Draws a condition, with inner conditions up to a depth.</summary>
    public Condition Condition(int depth)
    {
        if (depth > 0 && random.Next(3) == 0)
        {
            return random.Next(4) switch
            {
                0 => new AndCondition([Condition(depth - 1), Condition(depth - 1)], Position: 0),
                1 => new OrCondition([Condition(depth - 1), Condition(depth - 1), Condition(depth - 1)], Position: 0),
                2 => new NotCondition(Condition(depth - 1), Position: 0),
                _ => new ExactCondition(ConditionOnValues(depth - 1), Position: 0),
            };
        }

        return random.Next(isWide ? 18 : 8) switch
        {
            8 => new TextCondition(
                TextConditionKind.Regex,
                Field(),
                new TextOperand(Patterns[random.Next(Patterns.Length)], Position: 0),
                Position: 0
            ),
            9 => new LuceneCondition(
                Field(),
                new TextOperand(Clauses[random.Next(Clauses.Length)], Position: 0),
                Position: 0
            ),
            10 => new ComparisonCondition(
                new IdReference(0),
                (ComparisonOperator)random.Next(6),
                new TextOperand($"USERS/{random.Next(30)}", Position: 0),
                Position: 0
            ),
            11 => new TextCondition(
                (TextConditionKind)random.Next(2),
                new IdReference(0),
                new TextOperand(IdParts[random.Next(IdParts.Length)], Position: 0),
                Position: 0
            ),
            12 => new IntersectCondition([Condition(0), Condition(0)], Position: 0),
            13 or 14 => Search(),
            15 => new BoostCondition(
                Condition(0),
                new NumberOperand(Numbers[random.Next(2, 6)], Position: 0),
                Position: 0
            ),
            16 => new ProximityCondition(
                new SearchCondition(Field(), new TextOperand("big fish", Position: 0), NeedsAll: false, Position: 0),
                new NumberOperand($"{random.Next(3)}", Position: 0),
                Position: 0
            ),
            17 => new FuzzyCondition(
                new ComparisonCondition(
                    Field(),
                    ComparisonOperator.Equal,
                    new TextOperand(Text() is { Length: <= 512 } text ? text : "fsh", Position: 0),
                    Position: 0
                ),
                new NumberOperand("0.5", Position: 0),
                Position: 0
            ),
            0 or 1 or 2 => new ComparisonCondition(Field(), (ComparisonOperator)random.Next(6), Operand(), Position: 0),
            3 => new BetweenCondition(Field(), Operand(), Operand(), Position: 0),
            4 => new InCondition(
                Field(),
                [.. Enumerable.Range(0, random.Next(5)).Select(_ => Operand())],
                random.Next(3) == 0,
                Position: 0
            ),
            5 => new ExistsCondition(Field(), Position: 0),
            6 => new TextCondition(
                random.Next(2) == 0 ? TextConditionKind.StartsWith : TextConditionKind.EndsWith,
                Field(),
                new TextOperand(Text(), Position: 0),
                Position: 0
            ),
            _ => new EveryCondition(0),
        };
    }

    public OrderKey Order() => KeyOfOrder() with { Nulls = (NullPlace)random.Next(3) };

    private OrderKey KeyOfOrder() =>
        random.Next(7) switch
        {
            6 => new OrderKey(Field: null, OrderKind.Score, random.Next(2) == 0, Seed: null, Position: 0),
            5 when random.Next(2) == 0 => new OrderKey(
                Field: null,
                OrderKind.Random,
                random.Next(2) == 0,
                new TextOperand(Text(), Position: 0),
                Position: 0
            ),
            5 => new OrderKey(
                new IdReference(0),
                (OrderKind)random.Next(5),
                random.Next(2) == 0,
                Seed: null,
                Position: 0
            ),
            int kind => new OrderKey(Field(), (OrderKind)kind, random.Next(2) == 0, Seed: null, Position: 0),
        };

    private SearchCondition Search() =>
        new(Field(), new TextOperand(Searches[random.Next(Searches.Length)], Position: 0), random.Next(2) == 0, 0);

    public static PathReference Field(string path) => new(FieldPaths.Parse(path));

    public PathReference Field() => Field(Paths[random.Next(Paths.Length)]);

    private string Member(string name) =>
        name switch
        {
            "l" => List(Object),
            "t" => List(() => Value(1)),
            "o" when random.Next(3) > 0 => Object(),
            _ => Value(2),
        };

    private Operand Operand() =>
        random.Next(8) switch
        {
            0 => new NullOperand(0),
            1 => new BooleanOperand(random.Next(2) == 0, Position: 0),
            2 or 3 or 4 => new NumberOperand(Numbers[random.Next(Numbers.Length)], Position: 0),
            _ => new TextOperand(Text(), Position: 0),
        };

    /// <summary>
    /// Sometimes returns a long text that differs from others early, because long texts with the same beginning are not
    /// ordered by their characters.
    /// </summary>
    private string Text() =>
        isWide && random.Next(3) == 0
            ? Sentences[random.Next(Sentences.Length)]
            : Texts[random.Next(Texts.Length)]
                + (random.Next(12) == 0 ? new string(random.Next(2) == 0 ? 'x' : 'X', 600) : "");

    private string Value(int depth) =>
        random.Next(depth > 0 ? 11 : 9) switch
        {
            0 => "null",
            1 => random.Next(2) == 0 ? "true" : "false",
            2 or 3 or 4 => Numbers[random.Next(Numbers.Length)],
            9 => List(() => Value(depth - 1)),
            10 => Object(),
            _ => JsonSerializer.Serialize(Text()),
        };

    private string List(Func<string> element) =>
        $"[{string.Join(',', Enumerable.Range(0, random.Next(4)).Select(_ => element()))}]";

    private string Object() => $"{{\"a\":{Value(0)}{(random.Next(2) == 0 ? $",\"b\":{Value(1)}" : "")}}}";
}

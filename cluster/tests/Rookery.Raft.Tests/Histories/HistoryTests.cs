using Rookery.Histories;

namespace Rookery.Raft.Tests.Histories;

/// <summary>Checks that each checker accepts the histories of a correct store and rejects each kind of error.</summary>
public sealed class HistoryTests
{
    // Operations are written Put(value, invoked, completed), Get(value, etag, invoked, completed) and
    // Swap(expected, value, invoked, completed). An unknown operation is one whose answer was lost.
    private static readonly Dictionary<string, Operation[]> Good = new(StringComparer.Ordinal)
    {
        ["one after another"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Get(value: 1, etag: 1, invoked: 11, completed: 20),
            Put(value: 2, invoked: 21, completed: 30, etag: 2),
            Get(value: 2, etag: 2, invoked: 31, completed: 40),
        ],
        ["a read during a write sees the old or the new version"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Put(value: 2, invoked: 20, completed: 40, etag: 2),
            Get(value: 1, etag: 1, invoked: 21, completed: 39),
            Get(value: 2, etag: 2, invoked: 22, completed: 39),
        ],
        ["an unknown write that is read"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Lost(Put(value: 2, invoked: 20, completed: 30)),
            Get(value: 1, etag: 1, invoked: 31, completed: 40),
            Get(value: 2, etag: 2, invoked: 50, completed: 60),
        ],
        ["an unknown write that never took effect"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Lost(Put(value: 2, invoked: 20, completed: 30)),
            Get(value: 1, etag: 1, invoked: 31, completed: 40),
        ],
        ["a compare-and-set done, and one refused"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Swap(expected: 1, value: 2, invoked: 11, completed: 20, etag: 2),
            Refused(Swap(expected: 1, value: 3, invoked: 21, completed: 30, etag: 2)),
            Get(value: 2, etag: 2, invoked: 31, completed: 40),
        ],
        ["writes that overlap, in either order"] =
        [
            Put(value: 1, invoked: 0, completed: 50, etag: 2),
            Put(value: 2, invoked: 0, completed: 50),
            Get(value: 1, etag: 2, invoked: 51, completed: 60),
        ],
        ["a document that does not exist yet"] =
        [
            Get(value: 0, etag: 0, invoked: 0, completed: 10),
            Put(value: 1, invoked: 11, completed: 20),
            Get(value: 1, etag: 1, invoked: 21, completed: 30),
        ],
        ["a refused put"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Refused(Put(value: 2, invoked: 11, completed: 20)),
            Get(value: 1, etag: 1, invoked: 21, completed: 30),
        ],
    };

    private static readonly Dictionary<string, Operation[]> Bad = new(StringComparer.Ordinal)
    {
        ["a stale read"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Put(value: 2, invoked: 11, completed: 20, etag: 2),
            Get(value: 1, etag: 1, invoked: 21, completed: 30),
        ],
        ["a lost write"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Get(value: 0, etag: 0, invoked: 11, completed: 20),
        ],
        ["reads that go back"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Put(value: 2, invoked: 11, completed: 99, etag: 2),
            Get(value: 2, etag: 2, invoked: 20, completed: 30),
            Get(value: 1, etag: 1, invoked: 31, completed: 40),
        ],
        ["an unknown write that is read and then vanishes"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Lost(Put(value: 2, invoked: 11, completed: 20)),
            Get(value: 2, etag: 2, invoked: 21, completed: 30),
            Get(value: 1, etag: 1, invoked: 31, completed: 40),
        ],
        ["a read of a value that is written later"] =
        [
            Get(value: 1, etag: 1, invoked: 0, completed: 10),
            Put(value: 1, invoked: 11, completed: 20),
        ],
        ["a read of a value whose write was refused"] =
        [
            Refused(Put(value: 1, invoked: 0, completed: 10)),
            Get(value: 1, etag: 1, invoked: 11, completed: 20),
        ],
        ["a compare-and-set on a replaced value"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Put(value: 2, invoked: 11, completed: 20, etag: 2),
            Swap(expected: 1, value: 3, invoked: 21, completed: 30, etag: 3),
        ],
        ["two compare-and-sets on one version"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Swap(expected: 1, value: 2, invoked: 11, completed: 90, etag: 2),
            Swap(expected: 1, value: 3, invoked: 11, completed: 90, etag: 3),
        ],
        ["a compare-and-set refused although the value is the expected one"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Refused(Swap(expected: 1, value: 2, invoked: 11, completed: 20, etag: 1)),
            Get(value: 1, etag: 1, invoked: 21, completed: 30),
        ],
        ["a command executed twice"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Get(value: 1, etag: 1, invoked: 11, completed: 20),
            Put(value: 2, invoked: 21, completed: 30, etag: 2),
            Get(value: 2, etag: 2, invoked: 31, completed: 40),
            Get(value: 1, etag: 3, invoked: 41, completed: 50),
        ],
    };

    /// <summary>Errors that only etags reveal.</summary>
    private static readonly Dictionary<string, Operation[]> BadEtags = new(StringComparer.Ordinal)
    {
        ["one etag for two writes"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Put(value: 2, invoked: 0, completed: 10),
        ],
        ["writes reordered"] =
        [
            Put(value: 1, invoked: 0, completed: 10, etag: 2),
            Put(value: 2, invoked: 20, completed: 30, etag: 1),
        ],
        ["writes of two documents reordered"] =
        [
            Put(value: 1, invoked: 0, completed: 10, etag: 2),
            Put(value: 2, invoked: 20, completed: 30, etag: 1) with
            {
                Key = "other",
            },
        ],
        ["a version read with another etag than its write returned"] =
        [
            Put(value: 1, invoked: 0, completed: 10),
            Get(value: 1, etag: 5, invoked: 11, completed: 20),
        ],
    };

    // Transactions are written Append(list, element, invoked, completed) and Read(invoked, completed, lists).
    private static readonly Dictionary<string, Operation[]> GoodLists = new(StringComparer.Ordinal)
    {
        ["one after another"] =
        [
            Append("a", element: 1, invoked: 0, completed: 10),
            Append("b", element: 2, invoked: 11, completed: 20),
            Read(30, 40, ("a", [1]), ("b", [2])),
        ],
        ["two lists written at once and read at once"] =
        [
            Append("a", element: 1, invoked: 0, completed: 50) with
            {
                Appends = [new("a", 1), new("b", 2)],
            },
            Read(10, 20, ("a", []), ("b", [])),
            Read(20, 30, ("a", [1]), ("b", [2])),
        ],
        ["an unknown append that took effect"] =
        [
            Lost(Append("a", element: 1, invoked: 0, completed: 10)),
            Read(20, 30, ("a", [])),
            Read(40, 50, ("a", [1])),
        ],
        ["read, then append on what was read"] =
        [
            Append("a", element: 1, invoked: 0, completed: 10),
            Read(20, 30, ("a", [1])) with
            {
                Appends = [new("a", 2)],
            },
            Read(40, 50, ("a", [1, 2])) with
            {
                Appends = [new("a", 3)],
            },
        ],
    };

    private static readonly Dictionary<string, Operation[]> BadLists = new(StringComparer.Ordinal)
    {
        ["a stale read"] =
        [
            Append("a", element: 1, invoked: 0, completed: 10),
            Append("a", element: 2, invoked: 11, completed: 20),
            Read(21, 30, ("a", [1])),
        ],
        ["a lost append"] = [Append("a", element: 1, invoked: 0, completed: 10), Read(11, 20, ("a", []))],
        ["half a transaction"] =
        [
            Append("a", element: 1, invoked: 0, completed: 50) with
            {
                Appends = [new("a", 1), new("b", 2)],
            },
            Read(10, 20, ("a", [1]), ("b", [])),
            Read(60, 70, ("a", [1]), ("b", [2])),
        ],
        ["two readers that see two appends in different orders"] =
        [
            Append("a", element: 1, invoked: 0, completed: 90),
            Append("b", element: 2, invoked: 0, completed: 90),
            Read(10, 80, ("a", [1]), ("b", [])),
            Read(10, 80, ("a", []), ("b", [2])),
        ],
        ["a lost update"] =
        [
            Read(0, 50, ("a", [])) with
            {
                Appends = [new("a", 1)],
            },
            Read(0, 50, ("a", [])) with
            {
                Appends = [new("a", 2)],
            },
        ],
        ["an append after a read of a replaced version"] =
        [
            Append("a", element: 1, invoked: 0, completed: 90),
            Read(0, 90, ("a", [])) with
            {
                Appends = [new("a", 2)],
            },
            Read(91, 99, ("a", [1, 2])),
        ],
        ["two reads of one list in different orders"] =
        [
            Append("a", element: 1, invoked: 0, completed: 90),
            Append("a", element: 2, invoked: 0, completed: 90),
            Read(10, 20, ("a", [1, 2])),
            Read(10, 20, ("a", [2, 1])),
        ],
        ["an element that a list contains twice"] =
        [
            Append("a", element: 1, invoked: 0, completed: 10),
            Read(20, 30, ("a", [1, 1])),
        ],
        ["an element whose append was refused"] =
        [
            Refused(Append("a", element: 1, invoked: 0, completed: 10)),
            Read(20, 30, ("a", [1])),
        ],
        ["an element that no client appended"] = [Read(20, 30, ("a", [1]))],
        ["an unknown append that is read and then vanishes"] =
        [
            Lost(Append("a", element: 1, invoked: 0, completed: 10)),
            Read(20, 30, ("a", [1])),
            Read(40, 50, ("a", [])),
        ],
    };

    public static TheoryData<string> GoodNames => [.. Good.Keys];

    public static TheoryData<string> BadNames => [.. Bad.Keys];

    public static TheoryData<string> BadEtagNames => [.. BadEtags.Keys.Concat(Bad.Keys)];

    public static TheoryData<string> GoodListNames => [.. GoodLists.Keys];

    public static TheoryData<string> BadListNames => [.. BadLists.Keys];

    [Theory]
    [MemberData(nameof(GoodNames))]
    public void Both_checks_of_documents_accept_a_good_history(string name)
    {
        Assert.Null(EtagOrder.FindViolation(Good[name]));
        Assert.Equal(Verdict.Linearizable, Linearizability.Check(Good[name]));
    }

    [Theory]
    [MemberData(nameof(BadNames))]
    public void The_search_for_an_order_rejects_a_bad_history(string name) =>
        Assert.Equal(Verdict.Violated, Linearizability.Check(Bad[name]));

    [Theory]
    [MemberData(nameof(BadEtagNames))]
    public void The_check_of_etags_rejects_a_bad_history(string name) =>
        Assert.NotNull(EtagOrder.FindViolation(BadEtags.GetValueOrDefault(name) ?? Bad[name]));

    [Theory]
    [MemberData(nameof(GoodListNames))]
    public void The_search_for_cycles_accepts_a_good_history_of_lists(string name) =>
        Assert.Null(ListAppends.FindViolation(GoodLists[name]));

    [Theory]
    [MemberData(nameof(BadListNames))]
    public void The_search_for_cycles_rejects_a_bad_history_of_lists(string name) =>
        Assert.NotNull(ListAppends.FindViolation(BadLists[name]));

    /// <summary>
    /// Random histories of a register pass both checks. Then one answer is falsified: the check of etags, which is
    /// stricter, rejects each history that the search rejects.
    /// </summary>
    [Fact]
    public void The_check_of_etags_rejects_each_random_history_that_the_search_rejects()
    {
        int rejected = 0;
        for (int seed = 1; seed <= 1_000; seed++)
        {
            var random = new Random(seed);
            var history = RandomHistory(random);
            Assert.True(
                Linearizability.Check(history) == Verdict.Linearizable && EtagOrder.FindViolation(history) is null,
                $"seed {seed}: a correct history is rejected:\n{string.Join('\n', history)}"
            );

            int place = random.Next(history.Count);
            var written = history[random.Next(history.Count)];
            history[place] =
                history[place].Kind == OperationKind.Get
                && written is { Kind: OperationKind.Put, Outcome: Outcome.Done }
                    ? history[place] with
                    {
                        Value = written.Value,
                        Etag = written.Etag,
                    }
                    : history[place];
            var verdict = Linearizability.Check(history);
            Assert.True(
                verdict == Verdict.Linearizable || EtagOrder.FindViolation(history) is not null,
                $"seed {seed}: {verdict}, {EtagOrder.FindViolation(history)}\n{string.Join('\n', history)}"
            );
            rejected += verdict == Verdict.Violated ? 1 : 0;
        }

        Assert.True(rejected > 50, $"{rejected} of 1,000 falsified histories were wrong");
    }

    [Fact]
    public void The_searched_beginning_of_a_history_is_limited_by_operations_and_unknown_outcomes()
    {
        var many = Enumerable
            .Range(1, 500)
            .Select(number => Put(number, number * 10, (number * 10) + 25, number))
            .ToArray();
        var beginning = Linearizability.BeginningOf(many);
        Assert.Equal(200, beginning.Count);
        Assert.Equal(Outcome.Unknown, beginning[^1].Outcome);
        Assert.Equal(Verdict.Linearizable, Linearizability.Check(beginning));
        Assert.Equal(10, Linearizability.BeginningOf(many.Select(Lost)).Count);
    }

    [Fact]
    public void A_history_is_the_same_after_it_was_written_and_read()
    {
        Operation[] history =
        [
            Lost(Put(value: 1, invoked: 0, completed: 10)),
            Refused(Swap(expected: 1, value: 2, invoked: 3, completed: 4, etag: 5)),
            Read(6, 7, ("a", [1, 2])) with
            {
                Appends = [new("b", 3)],
            },
        ];
        Assert.Empty(
            HistoryFile.Read(new StringReader("{\"invoked\":1,\"kind\":\"Get\",\"outcome\":\"Done\"}"))[0].Reads
        );
        var read = HistoryFile.Read(new StringReader(string.Join('\n', history.Select(HistoryFile.Line)) + "\n\n"));
        Assert.Equal(history.Select(HistoryFile.Line), read.Select(HistoryFile.Line));
        Assert.Throws<FormatException>(() => HistoryFile.Read(new StringReader("{\"kind\":\"Put\"}")));
        Assert.Throws<FormatException>(() => HistoryFile.Read(new StringReader("not JSON")));
    }

    /// <summary>The search ends where too many outcomes are unknown. Etags alone check later operations.</summary>
    [Fact]
    public void A_report_proves_nothing_if_too_little_was_searched()
    {
        var known = Enumerable
            .Range(1, 80)
            .Select(number => Put(number, number * 10, (number * 10) + 5, number))
            .ToList();
        var unknown = Enumerable.Range(81, 11).Select(number => Lost(Put(number, invoked: 805, completed: 806)));
        var later = Enumerable
            .Range(92, 60)
            .Select(number => Put(number, number * 10, (number * 10) + 5, number))
            .ToList();
        var report = HistoryReport.Of([.. known, .. unknown, .. later]);
        Assert.True(report is { Violations.Count: 0, Undecided: 0, IsProof: false }, report.ToString());
        Assert.Equal(90.0 / 151, report.SearchedShare, 6);
        Assert.Contains("too little was searched", report.ToString(), StringComparison.Ordinal);
        Assert.True(HistoryReport.Of([.. known, .. later]).IsProof);
        Assert.False((report with { SearchedShare = 1, Undecided = 1 }).IsProof);
        Assert.True(HistoryReport.Of([]).IsProof);
    }

    [Fact]
    public void A_report_lists_the_violations_of_each_check()
    {
        Assert.Equal(
            3,
            HistoryReport
                .Of([
                    .. Bad["a stale read"],
                    .. BadLists["a stale read"]
                        .Select((operation, place) => operation with { Etag = place == 2 ? 0 : 100 + place }),
                ])
                .Violations.Count
        );
        var good = HistoryReport.Of(Good["one after another"]);
        Assert.Empty(good.Violations);
        Assert.Equal(1, good.Searched);
    }

    /// <summary>Returns a history of twenty operations that a single register could have.</summary>
    private static List<Operation> RandomHistory(Random random)
    {
        List<Operation> history = [];
        long value = 0,
            etag = 0,
            written = 0;
        for (int at = 100; at < 2100; at += 100)
        {
            // The operation takes effect at this time, and lasts from before it until after it.
            long expected = random.Next(2) == 0 ? value : written + 1_000;
            var operation = random.Next(3) switch
            {
                0 => Put(++written, invoked: 0, completed: 0, ++etag),
                1 => Swap(expected, ++written, invoked: 0, completed: 0, expected == value ? ++etag : etag) with
                {
                    Outcome = expected == value ? Outcome.Done : Outcome.Refused,
                },
                _ => Get(value, etag, invoked: 0, completed: 0),
            };
            value = operation.Writes ? operation.Value : value;
            operation = operation with { Invoked = at - random.Next(250), Completed = at + random.Next(250) };
            history.Add(
                operation.Kind != OperationKind.Get && operation.Writes && random.Next(8) == 0
                    ? Lost(operation)
                    : operation
            );
        }

        return history;
    }

    private static Operation Put(long value, long invoked, long completed, long etag = 1) =>
        new()
        {
            Kind = OperationKind.Put,
            Outcome = Outcome.Done,
            Key = "document",
            Value = value,
            Invoked = invoked,
            Completed = completed,
            Etag = etag,
        };

    private static Operation Swap(long expected, long value, long invoked, long completed, long etag) =>
        Put(value, invoked, completed, etag) with
        {
            Kind = OperationKind.CompareAndSet,
            Expected = expected,
        };

    private static Operation Get(long value, long etag, long invoked, long completed) =>
        Put(value, invoked, completed, etag) with
        {
            Kind = OperationKind.Get,
        };

    /// <summary>Returns the operation as one whose answer was lost.</summary>
    private static Operation Lost(Operation operation) =>
        operation with
        {
            Outcome = Outcome.Unknown,
            Completed = 0,
            Etag = 0,
        };

    private static Operation Refused(Operation operation) => operation with { Outcome = Outcome.Refused };

    private static Operation Append(string key, long element, long invoked, long completed) =>
        new()
        {
            Kind = OperationKind.Transaction,
            Outcome = Outcome.Done,
            Appends = [new(key, element)],
            Invoked = invoked,
            Completed = completed,
            Etag = element,
        };

    private static Operation Read(long invoked, long completed, params (string Key, long[] Elements)[] lists) =>
        new()
        {
            Kind = OperationKind.Transaction,
            Outcome = Outcome.Done,
            Reads = [.. lists.Select(list => new ListRead(list.Key, list.Elements))],
            Invoked = invoked,
            Completed = completed,
        };
}

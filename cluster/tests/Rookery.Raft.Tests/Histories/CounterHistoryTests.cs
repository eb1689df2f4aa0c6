using Rookery.Histories;

namespace Rookery.Raft.Tests.Histories;

/// <summary>
/// Histories of a key over the Redis port, which tells no etags: only the search for an order checks them. Operations
/// are written Set(value, invoked, completed), and so on.
/// </summary>
public sealed class CounterHistoryTests
{
    private static readonly Dictionary<string, Operation[]> Good = new(StringComparer.Ordinal)
    {
        ["increments, a value that is set, a delete"] =
        [
            Increment(value: 1, invoked: 0, completed: 10),
            Increment(value: 2, invoked: 11, completed: 20),
            Set(value: 1000, invoked: 21, completed: 30),
            Increment(value: 1001, invoked: 31, completed: 40),
            Set(value: 0, invoked: 41, completed: 50),
            Get(value: 0, invoked: 51, completed: 60),
            Increment(value: 1, invoked: 61, completed: 70),
        ],
        ["an unknown increment that took effect, and one that did not"] =
        [
            Lost(Increment(value: 0, invoked: 0, completed: 10)),
            Lost(Increment(value: 0, invoked: 0, completed: 10)),
            Increment(value: 2, invoked: 11, completed: 20),
        ],
        ["a value set only if the key is absent"] =
        [
            SetIfAbsent(value: 7, invoked: 0, completed: 10),
            Refused(SetIfAbsent(value: 8, invoked: 11, completed: 20)),
            Get(value: 7, invoked: 21, completed: 30),
        ],
    };

    private static readonly Dictionary<string, Operation[]> Bad = new(StringComparer.Ordinal)
    {
        ["two increments with one result"] =
        [
            Increment(value: 1, invoked: 0, completed: 50),
            Increment(value: 1, invoked: 0, completed: 50),
        ],
        ["a lost increment"] =
        [
            Increment(value: 1, invoked: 0, completed: 10),
            Get(value: 0, invoked: 11, completed: 20),
        ],
        ["an unknown increment that took effect twice"] =
        [
            Lost(Increment(value: 0, invoked: 0, completed: 10)),
            Get(value: 2, invoked: 11, completed: 20),
        ],
        ["a value not set although the key is absent"] = [Refused(SetIfAbsent(value: 7, invoked: 0, completed: 10))],
    };

    public static TheoryData<string> GoodNames => [.. Good.Keys];

    public static TheoryData<string> BadNames => [.. Bad.Keys];

    [Theory]
    [MemberData(nameof(GoodNames))]
    public void A_good_history_without_etags_is_accepted(string name)
    {
        var report = HistoryReport.Of(Good[name]);
        Assert.True(report is { IsProof: true, Searched: 1 }, report.ToString());
    }

    [Theory]
    [MemberData(nameof(BadNames))]
    public void A_bad_history_without_etags_is_rejected(string name)
    {
        var report = HistoryReport.Of(Bad[name]);
        Assert.Equal("no order explains what was read from key", Assert.Single(report.Violations));
    }

    private static Operation Set(long value, long invoked, long completed) =>
        new()
        {
            Kind = OperationKind.Put,
            Outcome = Outcome.Done,
            Key = "key",
            Value = value,
            Invoked = invoked,
            Completed = completed,
            Etag = Operation.NoEtag,
        };

    private static Operation SetIfAbsent(long value, long invoked, long completed) =>
        Set(value, invoked, completed) with
        {
            Kind = OperationKind.CompareAndSet,
        };

    private static Operation Increment(long value, long invoked, long completed) =>
        Set(value, invoked, completed) with
        {
            Kind = OperationKind.Increment,
        };

    private static Operation Get(long value, long invoked, long completed) =>
        Set(value, invoked, completed) with
        {
            Kind = OperationKind.Get,
        };

    private static Operation Lost(Operation operation) => operation with { Outcome = Outcome.Unknown, Completed = 0 };

    private static Operation Refused(Operation operation) => operation with { Outcome = Outcome.Refused };
}

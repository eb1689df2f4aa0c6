using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Histories;
using Operation = Rookery.Histories.Operation;
using OperationKind = Rookery.Histories.OperationKind;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Makes one request after the other through any member, and records the answers. Sometimes repeats a write with
/// unknown outcome, with the same idempotency key.
/// </summary>
internal sealed class HostClient(SteppedCluster cluster, int number)
{
    /// <summary>
    /// The number of documents written at a time. New ones are chosen every few seconds, so that each history stays
    /// short enough to be searched.
    /// </summary>
    private const int DocumentsPerEpoch = 3;

    private const long EpochMicroseconds = 2_000_000;

    private readonly Dictionary<string, (long Value, long Etag)> _lastSeen = new(StringComparer.Ordinal);
    private long _sequence;

    /// <summary>The requests with their answers.</summary>
    public List<Operation> History { get; } = [];

    /// <summary>Index and log time of each acknowledged write.</summary>
    public List<(long Index, long LogTicks)> LogTimes { get; } = [];

    /// <summary>Whether reads omit the read barrier: a planted bug.</summary>
    public bool ReadsLocally { get; init; }

    /// <summary>Whether to make no further requests.</summary>
    public bool IsStopped { get; set; }

    /// <summary>Whether the last request has ended.</summary>
    public bool HasEnded { get; private set; }

    /// <summary>Makes requests until it is stopped.</summary>
    public async Task WorkAsync()
    {
        while (!IsStopped)
        {
            await cluster.Pause(cluster.Random.Next(1, 30));
            string document =
                $"users/{(cluster.Now / EpochMicroseconds * DocumentsPerEpoch) + cluster.Random.Next(DocumentsPerEpoch)}";
            await (
                cluster.Random.Next(10) switch
                {
                    < 4 => GetAsync(document),
                    < 6 => WriteAsync(document, OperationKind.CompareAndSet),
                    _ => WriteAsync(document, OperationKind.Put),
                }
            );
        }

        HasEnded = true;
    }

    private async Task GetAsync(string document)
    {
        var member = cluster.Members[cluster.Random.Next(cluster.Members.Count)];
        if (!member.IsUp)
        {
            return;
        }

        long invoked = cluster.Now;
        var read = ReadsLocally
            ? member.Peek(document)
            : await cluster.AnswerInTime(member.ReadAsync(document), member);
        if (read is { } seen)
        {
            _lastSeen[document] = seen;
            History.Add(
                new Operation
                {
                    Client = number,
                    Invoked = invoked,
                    Completed = cluster.Now,
                    Kind = OperationKind.Get,
                    Outcome = Outcome.Done,
                    Key = document,
                    Value = seen.Value,
                    Etag = seen.Etag,
                }
            );
        }
    }

    private async Task WriteAsync(string document, OperationKind kind)
    {
        // No two writes of a run have the same value, so a read value names its write.
        long value = (++_sequence * 100) + number;
        var key = cluster.Random.Next(2) == 0 ? new IdempotencyKey((ulong)value, (ulong)number) : default;
        var seen = _lastSeen.GetValueOrDefault(document);
        var operation = new Operation
        {
            Client = number,
            Invoked = cluster.Now,
            Kind = kind,
            Outcome = Outcome.Unknown,
            Key = document,
            Value = value,
            Expected = kind == OperationKind.Put ? 0 : seen.Value,
        };
        bool mayBeDone = false;
        for (int attempt = 0; attempt < (key == default ? 1 : 4); attempt++)
        {
            var member = cluster.Members[cluster.Random.Next(cluster.Members.Count)];
            if (!member.IsUp)
            {
                await cluster.Pause(100);
                continue;
            }

            var outcome = await cluster.AnswerInTime(AskAsync(member, document, value, key, kind, seen.Etag), member);
            if (Conclude(operation, outcome) is { } concluded)
            {
                History.Add(concluded);
                _lastSeen[document] = concluded.Outcome == Outcome.Done ? (value, concluded.Etag) : (0, 0);
                return;
            }

            mayBeDone |= outcome is null or { Rejection.Kind: RejectionKind.OutcomeUnknown };
        }

        // A write that was refused each time did not happen; reading it would be a violation.
        if (mayBeDone)
        {
            History.Add(operation);
        }
        else if (kind == OperationKind.Put)
        {
            History.Add(operation with { Outcome = Outcome.Refused, Completed = cluster.Now });
        }
    }

    /// <summary>Returns the final outcome of an operation; null while it is open.</summary>
    private Operation? Conclude(Operation operation, CommandOutcome? outcome)
    {
        if (outcome is not { } answer)
        {
            return null;
        }

        if (answer.Rejection is null)
        {
            LogTimes.Add((answer.Index, answer.LogTimeTicks));
            return operation with { Outcome = Outcome.Done, Completed = cluster.Now, Etag = answer[0].Etag };
        }

        return answer.Rejection.Kind == RejectionKind.ConcurrencyConflict
            ? operation with
            {
                Outcome = Outcome.Refused,
                Completed = cluster.Now,
                Etag = EtagOf(answer.Rejection.Actual),
            }
            : null;
    }

    /// <summary>Sends a write to a member.</summary>
    /// <param name="member">The member.</param>
    /// <param name="document">The id of the document.</param>
    /// <param name="value">The value to write.</param>
    /// <param name="key">The idempotency key; default for none.</param>
    /// <param name="kind">Put, or compare-and-set.</param>
    /// <param name="etag">The etag that a compare-and-set expects; 0 for no document.</param>
    private static Task<CommandOutcome?> AskAsync(
        SteppedMember member,
        string document,
        long value,
        IdempotencyKey key,
        OperationKind kind,
        long etag
    )
    {
        var expected =
            kind == OperationKind.Put
                ? ExpectedChangeVector.None
                : ExpectedChangeVector.MustEqual(
                    etag == 0
                        ? []
                        : Encoding.UTF8.GetBytes(
                            $"A:{etag.ToString(CultureInfo.InvariantCulture)}-{SteppedCluster.HistoryId}"
                        )
                );
        var command = SteppedCluster.PutOf(document, value, key, expected, padding: (int)(value % 7) * 100);
        return ProposeAsync(member, command);
    }

    private static async Task<CommandOutcome?> ProposeAsync(SteppedMember member, CommandBuffer command) =>
        await member.Propose(command);

    private static long EtagOf(string? changeVector) =>
        changeVector is null or ""
            ? 0
            : long.Parse(
                changeVector.AsSpan(2, changeVector.IndexOf('-', StringComparison.Ordinal) - 2),
                CultureInfo.InvariantCulture
            );
}

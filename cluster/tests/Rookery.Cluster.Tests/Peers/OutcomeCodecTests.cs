using System.Buffers;
using Rookery.Cluster.Peers;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using OperationStatus = Rookery.Documents.Consensus.OperationStatus;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>The encoding of the answers to forwarded commands.</summary>
public sealed class OutcomeCodecTests
{
    public static TheoryData<RejectionKind> Refusals => [.. Enum.GetValues<RejectionKind>()];

    [Fact]
    public void The_violations_of_a_cluster_wide_transaction_arrive_unchanged()
    {
        ConcurrencyViolation[] violations = [new("users/1", true, -1, 7), new("schlüssel", false, 0, long.MaxValue)];
        var sent = new CommandOutcome(
            new Rejection(RejectionKind.ClusterTransactionConflict, "Nothing was stored.") { Violations = violations }
        );
        Assert.Equal(violations, Decode(Encode(sent)).Rejection!.Violations);
    }

    [Theory]
    [MemberData(nameof(Refusals))]
    public void Every_refusal_arrives_unchanged(RejectionKind kind)
    {
        var sent = new Rejection(kind, "Der Vogel hört nicht zu.")
        {
            DocumentId = "users/1",
            Expected = string.Empty,
            Actual = "A:1-x",
            Database = "first",
            Operation = 3,
        };
        Assert.Equal(sent, Decode(Encode(new CommandOutcome(sent))).Rejection);

        var bare = new Rejection(kind, string.Empty);
        Assert.Equal(bare, Decode(Encode(new CommandOutcome(bare))).Rejection);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(200)]
    public void Results_arrive_with_their_documents(int count)
    {
        var random = new Random(count);
        var sent = CreateOutcome(random, count);
        var arrived = Decode(Encode(sent));
        Assert.Equal(
            (sent.Index, sent.LogTimeTicks, sent.Count, sent.Rejection),
            (arrived.Index, arrived.LogTimeTicks, arrived.Count, arrived.Rejection)
        );
        for (int i = 0; i < count; i++)
        {
            Assert.Equal(sent[i] with { Document = null }, arrived[i] with { Document = null });
            Assert.Equal(sent[i].Document?.Written.ToArray(), arrived[i].Document?.Written.ToArray());
        }

        OutcomeCodec.DisposeDocuments(sent);
        OutcomeCodec.DisposeDocuments(arrived);
    }

    [Fact]
    public void A_receipt_arrives_with_the_results()
    {
        var sent = CreateOutcome(new Random(7), count: 2) with
        {
            Receipt = new CommitReceipt(
                JournalBytes: 8192,
                Commands: 3,
                [new SyncedMember("A", 2148), new SyncedMember("C", 3402)]
            ),
        };
        var arrived = Decode(Encode(sent));
        Assert.Equal((8192, 3), (arrived.Receipt!.JournalBytes, arrived.Receipt.Commands));
        Assert.Equal(sent.Receipt!.Synced, arrived.Receipt.Synced);
        OutcomeCodec.DisposeDocuments(sent);
        OutcomeCodec.DisposeDocuments(arrived);
    }

    [Fact]
    public void Changed_truncated_and_random_bytes_are_either_read_or_refused()
    {
        int refused = 0;
        for (int seed = 0; seed < 20_000; seed++)
        {
            var random = new Random(seed);
            var sent =
                seed % 5 == 0
                    ? new CommandOutcome(new Rejection(RejectionKind.NoLeader, "Nobody.") { Actual = "A:1" })
                    : CreateOutcome(random, random.Next(4));
            byte[] bytes = MessageCodecTests.Mangle(random, Encode(sent));
            OutcomeCodec.DisposeDocuments(sent);
            try
            {
                OutcomeCodec.DisposeDocuments(Decode(bytes));
            }
            catch (PeerProtocolException)
            {
                refused++;
            }
            catch (Exception other)
            {
                Assert.Fail($"seed {seed}: {other}");
            }
        }

        Assert.InRange(refused, 10_000, 20_000);
    }

    private static CommandOutcome CreateOutcome(Random random, int count)
    {
        var results = new OperationResult[count];
        foreach (ref var result in results.AsSpan())
        {
            result = new OperationResult
            {
                Status = (OperationStatus)random.Next(9),
                Etag = random.NextInt64(),
                LastModifiedTicks = random.NextInt64(),
                Low = -random.NextInt64(),
                High = random.NextInt64(),
                Id = random.Next(2) == 0 ? null : "Ñandú/" + random.Next(),
                Collection = random.Next(2) == 0 ? null : "Birds",
                Document = random.Next(2) == 0 ? null : CommandBuffer.Rent(),
                Attachment =
                    random.Next(3) != 0
                        ? null
                        : new CopiedAttachment(
                            new ContentHash(new UInt128(1, (ulong)random.NextInt64()), 7),
                            random.Next(2) == 0 ? "" : "text/größe",
                            random.NextInt64()
                        ),
            };
            result.Document?.Write(Samples.Bytes(random, random.Next(100)));
        }

        return count == 1
            ? new CommandOutcome(random.NextInt64(), random.NextInt64(), results[0])
            : new CommandOutcome(random.NextInt64(), random.NextInt64(), results);
    }

    private static byte[] Encode(in CommandOutcome outcome)
    {
        byte[] bytes = new byte[OutcomeCodec.SizeOf(outcome)];
        OutcomeCodec.Write(bytes, outcome);
        return bytes;
    }

    private static CommandOutcome Decode(byte[] bytes) => OutcomeCodec.Read(bytes);
}

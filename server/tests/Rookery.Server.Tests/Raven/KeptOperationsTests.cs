using System.Text.Json;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.LongOperations;
using Rookery.Server.Raven.SetBased;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// The details of ended operations share memory with queries. Formerly, the details of one change by query held all
/// of this memory until 256 more operations had ended, so every query with an order was refused.
/// </summary>
public sealed class KeptOperationsTests
{
    private readonly MemoryShare _memory = new MemoryBudget(64L << 20).AddShare("queries", limitBytes: 1 << 20);
    private readonly OperationRegistry _operations;

    public KeptOperationsTests() => _operations = new OperationRegistry(TimeProvider.System, _memory);

    [Fact]
    public void Ended_operations_leave_half_of_the_memory_to_queries()
    {
        var endedOperations = new List<SetOperation>();
        for (int i = 0; i < 5; i++)
        {
            var operation = BeginWithAllDetails();
            operation.Complete();
            _operations.Announce(operation);
            endedOperations.Add(operation);
        }

        Assert.InRange(_memory.UsedBytes, 1, _memory.LimitBytes / 2);
        // The oldest are forgotten first.
        Assert.Equal([true, true, true, false, false], endedOperations.Select(operation => operation.IsForgotten));
    }

    /// <summary>The other operations end while the first is counted, as on another thread.</summary>
    [Fact]
    public void Operations_that_end_at_the_same_time_leave_half_of_the_memory_to_queries()
    {
        var first = _operations.Begin(
            new InterruptedOperation(_operations.NextId(), _memory, () => EndWithAllDetails(count: 3)),
            Principal.Everything
        );
        first.Complete();
        _operations.Announce(first);
        Assert.InRange(_memory.UsedBytes, 1, _memory.LimitBytes / 2);
        EndWithAllDetails(count: 5);
        Assert.InRange(_memory.UsedBytes, 1, _memory.LimitBytes / 2);
    }

    [Fact]
    public void A_failed_operation_holds_no_details()
    {
        var operation = BeginWithAllDetails();
        operation.Fail(RefusedException.BadRequest("There is no more memory."));
        _operations.Announce(operation);
        Assert.Equal(0, _memory.UsedBytes);
    }

    /// <summary>A client may guess the number that is assigned next, and send it with a bulk insert.</summary>
    [Fact]
    public void An_operation_gets_another_number_if_a_client_took_its_own_meanwhile()
    {
        var numbers = new List<long>();
        var operation = _operations.BeginNext(
            id =>
            {
                numbers.Add(id);
                if (numbers.Count == 1)
                {
                    _operations.Begin(new BulkOperation(database: 1, id), Principal.Everything);
                }

                return new SetOperation(database: 1, id, "from Users", _memory);
            },
            Principal.Everything
        );
        Assert.Equal(2, numbers.Count);
        Assert.Equal(numbers[1], operation.Id);
    }

    private void EndWithAllDetails(int count)
    {
        for (int i = 0; i < count; i++)
        {
            var operation = BeginWithAllDetails();
            operation.Complete();
            _operations.Announce(operation);
        }
    }

    /// <summary>Begins an operation and gives it as many details as it may hold.</summary>
    private SetOperation BeginWithAllDetails()
    {
        var operation = _operations.Begin(
            new SetOperation(database: 1, _operations.NextId(), "from Users", _memory),
            Principal.Everything
        );
        while (operation.TryAddDetail("users/1", "A:1", "Patched"))
        {
            // Until the operation holds as much as it may.
        }

        return operation;
    }

    /// <summary>
    /// An operation that holds a quarter of a share, and during whose counting something else happens.
    /// </summary>
    private sealed class InterruptedOperation : LongOperation
    {
        private readonly MemoryShare _memory;
        private Action? _whileCounted;
        private long _reservedBytes;

        public InterruptedOperation(long id, MemoryShare memory, Action whileCounted)
            : base(database: 1, id)
        {
            _memory = memory;
            _whileCounted = whileCounted;
            _reservedBytes = memory.LimitBytes / 4;
            Assert.True(memory.TryReserve(_reservedBytes));
        }

        public override long HeldBytes
        {
            get
            {
                var happening = _whileCounted;
                _whileCounted = null;
                happening?.Invoke();
                return 0;
            }
        }

        public override long ReservedBytes => _reservedBytes;

        public override void WriteProgress(Utf8JsonWriter json) => throw new NotSupportedException();

        public override void WriteResult(Utf8JsonWriter json) => throw new NotSupportedException();

        protected override void ReleaseResult()
        {
            _memory.Release(_reservedBytes);
            _reservedBytes = 0;
        }
    }
}

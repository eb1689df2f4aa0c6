namespace Rookery.Histories;

/// <summary>What a search for an order found.</summary>
public enum Verdict
{
    /// <summary>There is an order that explains every answer.</summary>
    Linearizable,

    /// <summary>There is none.</summary>
    Violated,

    /// <summary>The search was given up.</summary>
    Undecided,
}

/// <summary>
/// Searches an order of operations that explains every answer, trusting no etag: Wing and Gong's search with Lowe's memory of what was tried ("Testing for Linearizability",
/// 2017). Exponential in how many operations overlap, so for one document and some 200 operations at a time.
/// </summary>
public static class Linearizability
{
    /// <summary>The most operations of one search.</summary>
    public const int MostOperations = 256;

    /// <summary>Searches an order for the operations on one document, which begins empty.</summary>
    /// <param name="operations">At most <see cref="MostOperations"/>.</param>
    /// <param name="mostSteps">How many steps to try.</param>
    public static Verdict Check(IReadOnlyList<Operation> operations, int mostSteps = 2_000_000)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(operations.Count, MostOperations, nameof(operations));
        return new Search([.. operations.Where(operation => operation.Outcome != Outcome.Unknown || operation.Writes)]).Run(mostSteps);
    }

    /// <summary>
    /// The longest beginning of a document's history that can be checked. What had not ended by then has an unknown outcome: any beginning of a history that has an order has one.
    /// </summary>
    public static IReadOnlyList<Operation> BeginningOf(IEnumerable<Operation> operations, int mostOperations = 200, int mostUnknown = 10)
    {
        var byTime = operations.Where(operation => operation.Outcome != Outcome.Unknown || operation.Writes).OrderBy(operation => operation.Invoked).ToList();
        int count = 0;
        for (int unknown = 0; count < byTime.Count && count < mostOperations; count++)
        {
            unknown += byTime[count].Outcome == Outcome.Unknown ? 1 : 0;
            if (unknown > mostUnknown)
            {
                break;
            }
        }

        long end = count < byTime.Count ? byTime[count].Invoked : long.MaxValue;
        return
        [
            .. from operation in byTime.Take(count)
               let isOpen = operation.Ended >= end
               where !isOpen || operation.Kind is OperationKind.Put or OperationKind.CompareAndSet
               select isOpen ? operation with { Outcome = Outcome.Unknown } : operation,
        ];
    }

    private static bool Explains(Operation operation, long value, out long after)
    {
        bool matches = value == operation.Expected;
        (bool explained, after) = operation.Kind switch
        {
            OperationKind.Get => (value == operation.Value, value),
            OperationKind.Put => (operation.Outcome != Outcome.Refused, operation.Value),
            OperationKind.CompareAndSet when operation.Outcome == Outcome.Unknown => (true, matches ? operation.Value : value),
            OperationKind.CompareAndSet when operation.Outcome == Outcome.Done => (matches, operation.Value),
            OperationKind.CompareAndSet => (!matches, value),
            _ => throw new ArgumentException("a search is for single documents", nameof(operation)),
        };
        return explained;
    }

    /// <summary>The calls and returns by time, as a linked list from which what has a place is lifted out.</summary>
    private sealed class Search
    {
        private const int Head = 0;

        private readonly List<Operation> operations;
        private readonly int[] next;
        private readonly int[] previous;
        private readonly int[] callOf;
        private readonly int[] returnOf;
        private readonly (int Operation, bool IsCall)[] events;
        private readonly HashSet<(Taken Taken, long Value)> tried = [];
        private readonly Stack<(int Call, long Value)> placed = new();
        private Taken taken;
        private int returnsLeft;

        public Search(List<Operation> operations)
        {
            // A refused put says only that it never was.
            this.operations = [.. operations.Where(operation => operation is not { Kind: OperationKind.Put, Outcome: Outcome.Refused })];
            events = EventsByTime(this.operations);
            (next, previous) = (new int[events.Length], new int[events.Length]);
            (callOf, returnOf) = (new int[this.operations.Count], new int[this.operations.Count]);
            for (int place = 0; place < events.Length; place++)
            {
                (next[place], previous[place]) = ((place + 1) % events.Length, place - 1);
                if (place > Head)
                {
                    (events[place].IsCall ? callOf : returnOf)[events[place].Operation] = place;
                    returnsLeft += events[place].IsCall ? 0 : 1;
                }
            }
        }

        public Verdict Run(int mostSteps)
        {
            long value = 0;
            int entry = next[Head];
            for (int step = 0; returnsLeft > 0; step++)
            {
                if (step == mostSteps)
                {
                    return Verdict.Undecided;
                }

                var (operation, isCall) = events[entry];
                if (isCall)
                {
                    bool isNew = Explains(operations[operation], value, out long after) && tried.Add((taken.With(operation), after));
                    if (isNew)
                    {
                        placed.Push((entry, value));
                        (taken, value) = (taken.With(operation), after);
                        Lift(operation);
                    }

                    entry = next[isNew ? Head : entry];
                }
                else if (placed.TryPop(out var last))
                {
                    // It had to have its place by now: try another for the one placed last.
                    value = last.Value;
                    taken = taken.Without(events[last.Call].Operation);
                    Unlift(events[last.Call].Operation);
                    entry = next[last.Call];
                }
                else
                {
                    return Verdict.Violated;
                }
            }

            return Verdict.Linearizable;
        }

        private static (int Operation, bool IsCall)[] EventsByTime(List<Operation> operations)
        {
            List<(long At, int Order, int Operation)> byTime = [];
            for (int operation = 0; operation < operations.Count; operation++)
            {
                byTime.Add((operations[operation].Invoked, 0, operation));
                if (operations[operation].Outcome != Outcome.Unknown)
                {
                    byTime.Add((operations[operation].Completed, 1, operation));
                }
            }

            byTime.Sort();
            return [(-1, false), .. byTime.Select(at => (at.Operation, at.Order == 0))];
        }

        private void Lift(int operation)
        {
            Remove(callOf[operation]);
            if (returnOf[operation] > 0)
            {
                Remove(returnOf[operation]);
                returnsLeft--;
            }
        }

        private void Unlift(int operation)
        {
            if (returnOf[operation] > 0)
            {
                PutBack(returnOf[operation]);
                returnsLeft++;
            }

            PutBack(callOf[operation]);
        }

        private void Remove(int place) => (next[previous[place]], previous[next[place]]) = (next[place], previous[place]);

        private void PutBack(int place) => (next[previous[place]], previous[next[place]]) = (place, place);
    }

    /// <summary>Which operations have a place.</summary>
    private readonly record struct Taken(UInt128 Low, UInt128 High)
    {
        public Taken With(int operation) => operation < 128 ? this with { Low = Low | (UInt128.One << operation) } : this with { High = High | (UInt128.One << (operation - 128)) };

        public Taken Without(int operation) => operation < 128 ? this with { Low = Low & ~(UInt128.One << operation) } : this with { High = High & ~(UInt128.One << (operation - 128)) };
    }
}

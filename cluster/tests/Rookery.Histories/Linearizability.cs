namespace Rookery.Histories;

/// <summary>The result of a search for an order.</summary>
public enum Verdict
{
    /// <summary>An order explains every answer.</summary>
    Linearizable,

    /// <summary>No order explains every answer.</summary>
    Violated,

    /// <summary>The search was abandoned.</summary>
    Undecided,
}

/// <summary>
/// Searches an order of operations that explains every answer, without using etags: Wing and Gong's search with Lowe's
/// cache of tried states ("Testing for Linearizability", 2017). The time is exponential in the number of overlapping
/// operations, so a search has one document and at most about 200 operations.
/// </summary>
public static class Linearizability
{
    /// <summary>The maximum number of operations in one search.</summary>
    public const int MaxOperations = 256;

    /// <summary>Searches an order for the operations on one document, which does not exist at first.</summary>
    /// <param name="operations">At most <see cref="MaxOperations"/>.</param>
    /// <param name="mostSteps">The maximum number of steps to try.</param>
    public static Verdict Check(IReadOnlyList<Operation> operations, int mostSteps = 2_000_000)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(operations.Count, MaxOperations, nameof(operations));
        return new Search([
            .. operations.Where(operation => operation.Outcome != Outcome.Unknown || operation.Writes),
        ]).Run(mostSteps);
    }

    /// <summary>
    /// Returns the longest prefix of a document's history that can be checked. Operations that have not ended at the
    /// end of the prefix get an unknown outcome. If a history has an order, every prefix has one too.
    /// </summary>
    public static IReadOnlyList<Operation> BeginningOf(
        IEnumerable<Operation> operations,
        int mostOperations = 200,
        int mostUnknown = 10
    )
    {
        var byTime = operations
            .Where(operation => operation.Outcome != Outcome.Unknown || operation.Writes)
            .OrderBy(operation => operation.Invoked)
            .ToList();
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
            where !isOpen || operation.WritesValue
            select isOpen ? operation with { Outcome = Outcome.Unknown } : operation,
        ];
    }

    /// <summary>Whether a document's value explains an operation's answer.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="value">The value before the operation; 0 for a missing document.</param>
    /// <param name="after">The value after the operation.</param>
    private static bool Explains(Operation operation, long value, out long after)
    {
        bool matches = value == operation.Expected;
        (bool explained, after) = operation.Kind switch
        {
            OperationKind.Get => (value == operation.Value, value),
            OperationKind.Put => (operation.Outcome != Outcome.Refused, operation.Value),
            OperationKind.Increment when operation.Outcome == Outcome.Unknown => (true, value + 1),
            OperationKind.Increment => (operation.Value == value + 1, value + 1),
            OperationKind.CompareAndSet when operation.Outcome == Outcome.Unknown => (
                true,
                matches ? operation.Value : value
            ),
            OperationKind.CompareAndSet when operation.Outcome == Outcome.Done => (matches, operation.Value),
            OperationKind.CompareAndSet => (!matches, value),
            _ => throw new ArgumentException("a search is for single documents", nameof(operation)),
        };
        return explained;
    }

    /// <summary>
    /// The calls and returns by time, as a linked list from which placed operations are removed. To lift is Lowe's word
    /// for that removal.
    /// </summary>
    private sealed class Search
    {
        // The place of the list's head, which is not an event.
        private const int Head = 0;

        private readonly List<Operation> _operations;
        private readonly int[] _next;
        private readonly int[] _previous;
        private readonly int[] _callOf;
        private readonly int[] _returnOf;
        private readonly (int Operation, bool IsCall)[] _events;
        private readonly HashSet<(Taken Taken, long Value)> _tried = [];
        private readonly Stack<(int Call, long Value)> _placed = new();
        private Taken _taken;
        private int _returnsLeft;

        public Search(List<Operation> operations)
        {
            // A refused put shows only that it did not happen.
            _operations =
            [
                .. operations.Where(operation =>
                    operation is not { Kind: OperationKind.Put, Outcome: Outcome.Refused }
                ),
            ];
            _events = EventsByTime(_operations);
            (_next, _previous) = (new int[_events.Length], new int[_events.Length]);
            (_callOf, _returnOf) = (new int[_operations.Count], new int[_operations.Count]);
            for (int place = 0; place < _events.Length; place++)
            {
                (_next[place], _previous[place]) = ((place + 1) % _events.Length, place - 1);
                if (place > Head)
                {
                    (_events[place].IsCall ? _callOf : _returnOf)[_events[place].Operation] = place;
                    _returnsLeft += _events[place].IsCall ? 0 : 1;
                }
            }
        }

        public Verdict Run(int mostSteps)
        {
            long value = 0;
            int entry = _next[Head];
            for (int step = 0; _returnsLeft > 0; step++)
            {
                if (step == mostSteps)
                {
                    return Verdict.Undecided;
                }

                var (operation, isCall) = _events[entry];
                if (isCall)
                {
                    bool isNew =
                        Explains(_operations[operation], value, out long after)
                        && _tried.Add((_taken.With(operation), after));
                    if (isNew)
                    {
                        _placed.Push((entry, value));
                        (_taken, value) = (_taken.With(operation), after);
                        Lift(operation);
                    }

                    entry = _next[isNew ? Head : entry];
                }
                else if (_placed.TryPop(out var last))
                {
                    // The operation had to be placed before its return: undo the last placement and try another.
                    value = last.Value;
                    _taken = _taken.Without(_events[last.Call].Operation);
                    Unlift(_events[last.Call].Operation);
                    entry = _next[last.Call];
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
            Remove(_callOf[operation]);
            if (_returnOf[operation] > 0)
            {
                Remove(_returnOf[operation]);
                _returnsLeft--;
            }
        }

        private void Unlift(int operation)
        {
            if (_returnOf[operation] > 0)
            {
                PutBack(_returnOf[operation]);
                _returnsLeft++;
            }

            PutBack(_callOf[operation]);
        }

        private void Remove(int place) =>
            (_next[_previous[place]], _previous[_next[place]]) = (_next[place], _previous[place]);

        private void PutBack(int place) => (_next[_previous[place]], _previous[_next[place]]) = (place, place);
    }

    /// <summary>The set of placed operations.</summary>
    private readonly record struct Taken(UInt128 Low, UInt128 High)
    {
        public Taken With(int operation) =>
            operation < 128
                ? this with
                {
                    Low = Low | (UInt128.One << operation),
                }
                : this with
                {
                    High = High | (UInt128.One << (operation - 128)),
                };

        public Taken Without(int operation) =>
            operation < 128
                ? this with
                {
                    Low = Low & ~(UInt128.One << operation),
                }
                : this with
                {
                    High = High & ~(UInt128.One << (operation - 128)),
                };
    }
}

namespace Rookery.Histories;

/// <summary>
/// Checks a history against the order of its etags, for documents whose values all differ. O(n log n), so every history
/// can be checked. The etags order the versions of each document, and the writes of all documents. Both orders must
/// agree with real time. Then each document is linearizable, because real time does not contradict the order of its
/// versions. A history whose documents all are linearizable is itself linearizable (Herlihy and Wing 1990).
/// </summary>
public static class EtagOrder
{
    /// <summary>
    /// Returns the first contradiction found; null when there is none. Operations without etag are left out.
    /// </summary>
    public static string? FindViolation(IEnumerable<Operation> history)
    {
        var operations = history
            .Where(operation => operation.Etag != Operation.NoEtag)
            .Where(operation => operation.Outcome != Outcome.Unknown || operation.Writes)
            .ToList();
        var writes = new WrittenValues();
        if (writes.Collect(operations) is { } violation)
        {
            return violation;
        }

        List<Placed> writesInOrder = [.. writes.All];
        Dictionary<string, List<Placed>> documents = new(StringComparer.Ordinal);
        foreach (var placed in writesInOrder.Concat(ReadsAmong(operations)))
        {
            if (placed.Operation.Kind != OperationKind.Transaction)
            {
                VersionsOf(documents, placed.Operation.Key).Add(placed);
            }
        }

        return FindDisorder(writesInOrder)
            ?? documents
                .Values.Select(versions => FindDisorder(versions) ?? FindBrokenChain(versions, writes))
                .FirstOrDefault(disorder => disorder is not null);
    }

    private static List<Placed> VersionsOf(Dictionary<string, List<Placed>> documents, string key)
    {
        if (!documents.TryGetValue(key, out var versions))
        {
            documents.Add(key, versions = []);
        }

        return versions;
    }

    /// <summary>
    /// Returns the operations that saw a version: gets, and compare-and-sets that found another value than expected.
    /// </summary>
    private static IEnumerable<Placed> ReadsAmong(List<Operation> operations) =>
        from operation in operations
        where
            operation.Kind == OperationKind.Get
            || operation is { Kind: OperationKind.CompareAndSet, Outcome: Outcome.Refused }
        select new Placed(operation.Etag, IsWrite: false, operation);

    /// <summary>
    /// Finds an operation that began after the end of another, although the order places it before the other.
    /// </summary>
    private static string? FindDisorder(List<Placed> placed)
    {
        // The operations of one etag are one version: its write, then its reads.
        placed.Sort((left, right) => (left.Etag, !left.IsWrite).CompareTo((right.Etag, !right.IsWrite)));
        Operation? lastBegun = null; // of all operations with lower etags
        foreach (var version in placed.GroupBy(static operation => operation.Etag))
        {
            var first = version.First();
            foreach (var (_, isWrite, current) in version)
            {
                if (first.IsWrite && !isWrite && current.Ended < first.Operation.Invoked)
                {
                    return $"{current} had ended before {first.Operation} began, whose etag it saw";
                }

                if (lastBegun is not null && current.Ended < lastBegun.Invoked)
                {
                    return $"{current} had ended before {lastBegun} began, whose etag is lower";
                }
            }

            foreach (var (_, _, operation) in version)
            {
                if (lastBegun is null || operation.Invoked > lastBegun.Invoked)
                {
                    lastBegun = operation;
                }
            }
        }

        return null;
    }

    /// <summary>
    /// Finds a compare-and-set that succeeded on another version than the previous one, or was refused although the
    /// version was the expected one.
    /// </summary>
    private static string? FindBrokenChain(List<Placed> versions, WrittenValues writes)
    {
        // The version that the last write left; value and etag 0 before the first write.
        (long value, long etag) = (0, 0);
        foreach (var (ownEtag, isWrite, operation) in versions)
        {
            bool compares = operation.Kind == OperationKind.CompareAndSet;
            if (compares && isWrite && operation.Expected != value && !writes.MayHaveBeenBefore(operation))
            {
                return $"{operation} succeeded on {value} with etag {etag}, another value than expected";
            }

            if (compares && !isWrite && ownEtag == etag && operation.Expected == value)
            {
                return $"{operation} was refused although the document had the expected value";
            }

            (value, etag) = isWrite ? (operation.Value, ownEtag) : (value, etag);
        }

        return null;
    }

    /// <summary>An operation with its position in the order.</summary>
    private readonly record struct Placed(long Etag, bool IsWrite, Operation Operation);

    /// <summary>The writes with their etags; those with unknown outcomes only if their values were read.</summary>
    private sealed class WrittenValues
    {
        private readonly Dictionary<long, (Operation Write, long Etag)> _byValue = [];
        private readonly Dictionary<long, Operation> _byEtag = [];

        public IEnumerable<Placed> All => _byEtag.Select(write => new Placed(write.Key, IsWrite: true, write.Value));

        /// <summary>
        /// Whether the value that a compare-and-set expected was written by an operation whose outcome and etag are
        /// unknown.
        /// </summary>
        public bool MayHaveBeenBefore(Operation operation) =>
            _byValue.TryGetValue(operation.Expected, out var expected)
            && expected is { Write.Outcome: Outcome.Unknown, Etag: 0 }
            && expected.Write.Invoked < operation.Ended;

        /// <summary>Collects the writes of a history. Returns a contradiction; null when there is none.</summary>
        public string? Collect(List<Operation> operations)
        {
            foreach (
                var operation in operations.Where(operation =>
                    operation.Kind is OperationKind.Put or OperationKind.CompareAndSet
                )
            )
            {
                if (!_byValue.TryAdd(operation.Value, (operation, 0)))
                {
                    return $"{operation} writes the value of {_byValue[operation.Value].Write}: such a history "
                        + $"cannot be checked";
                }
            }

            return operations
                    .Where(operation => operation.Writes && operation.Outcome == Outcome.Done)
                    .Select(Acknowledge)
                    .FirstOrDefault(violation => violation is not null)
                ?? operations
                    .Where(operation => operation.Kind == OperationKind.Get)
                    .Select(Read)
                    .FirstOrDefault(violation => violation is not null);
        }

        private string? Acknowledge(Operation write) =>
            write.Kind == OperationKind.Transaction ? PlaceAt(write.Etag, write) : Place(write.Value, write.Etag);

        private string? Read(Operation read)
        {
            bool foundNoDocument = read.Value == 0;
            if (foundNoDocument)
            {
                return read.Etag == 0 ? null : $"{read} saw nothing, with an etag";
            }

            if (
                !_byValue.TryGetValue(read.Value, out var written)
                || !string.Equals(written.Write.Key, read.Key, StringComparison.Ordinal)
            )
            {
                return $"{read} saw what nobody wrote there";
            }

            return written.Write.Outcome == Outcome.Refused
                ? $"{read} saw what was refused: {written.Write}"
                : Place(read.Value, read.Etag);
        }

        /// <summary>Records the etag of the write of a value.</summary>
        private string? Place(long value, long etag)
        {
            var (write, known) = _byValue[value];
            if (known != 0)
            {
                return known == etag ? null : $"{write} took place at {known} and at {etag}";
            }

            _byValue[value] = (write, etag);
            return PlaceAt(etag, write);
        }

        private string? PlaceAt(long etag, Operation write) =>
            etag <= 0 ? $"{write} has no etag"
            : _byEtag.TryAdd(etag, write) ? null
            : $"{write} and {_byEtag[etag]} have one etag";
    }
}

using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Documents.Apply;

/// <summary>
/// Applies cluster-wide transactions. All expected versions are compared before the first operation. A mismatch refuses
/// the whole transaction. The refusal names all mismatches, so that a client need not find them one by one.
/// </summary>
internal sealed class ClusterTransactionOperations(DocumentOperations documents, CompareExchangeOperations values)
{
    // The message names this many violations; Rejection.Violations lists more.
    private const int NamedViolations = 3;

    /// <summary>Applies a transaction. Each operation uses one etag.</summary>
    public CommandOutcome Apply(ApplyContext context, long index, ref CommandReader command)
    {
        if (Check(context, command) is { } conflict)
        {
            return new CommandOutcome(conflict);
        }

        var results = new OperationResult[command.OperationCount];
        for (int i = 0; command.TryReadOperation(out var operation); i++)
        {
            switch (operation.Kind)
            {
                case OperationKind.Put or OperationKind.Delete:
                    var refusal = documents.ApplyInClusterTransaction(
                        context,
                        operation,
                        command.HasGuards,
                        out results[i]
                    );
                    if (refusal is not null)
                    {
                        return new CommandOutcome(refusal with { Operation = i });
                    }

                    break;
                case OperationKind.CompareExchangePut or OperationKind.CompareExchangeDelete:
                    results[i] = values.ApplyInClusterTransaction(context, operation);
                    break;
                default:
                    throw new CommandFormatException(
                        $"Operation {(byte)operation.Kind} in a cluster-wide transaction is not known to this version "
                            + "of Rookery."
                    );
            }

            context.Etag++;
        }

        return new CommandOutcome(index, context.LogTicks, results);
    }

    private Rejection? Check(ApplyContext context, CommandReader command)
    {
        List<ConcurrencyViolation>? violations = null;
        int firstOperation = -1;
        int count = 0;
        for (int i = 0; command.TryReadOperation(out var operation); i++)
        {
            if (CompareExchangeOperations.FindExpiryProblem(context, operation) is { } refusal)
            {
                return refusal with { Operation = i };
            }

            bool isDocument = operation.Kind is OperationKind.Put or OperationKind.Delete;
            var violation =
                !isDocument ? values.CheckInClusterTransaction(context, operation)
                : command.HasGuards ? documents.CheckInClusterTransaction(context, operation)
                : null;
            if (violation is not { } mismatch)
            {
                continue;
            }

            firstOperation = firstOperation < 0 ? i : firstOperation;
            count++;
            violations ??= [];
            if (violations.Count < Rejection.MaxViolations)
            {
                violations.Add(mismatch);
            }
        }

        return violations is null
            ? null
            : new Rejection(RejectionKind.ClusterTransactionConflict, Describe(violations, count))
            {
                DocumentId = violations[0].Id,
                Violations = violations,
                Database = context.Database.Database.Name,
                Operation = firstOperation,
            };
    }

    private static string Describe(List<ConcurrencyViolation> violations, int count)
    {
        var text = new StringBuilder("The cluster-wide transaction was refused, because ");
        for (int i = 0; i < Math.Min(violations.Count, NamedViolations); i++)
        {
            text.Append(i == 0 ? "" : "; ").Append(Describe(violations[i]));
        }

        if (count > NamedViolations)
        {
            text.Append("; and ").Append(count - NamedViolations).Append(" more differ");
        }

        return text.Append(". Nothing was stored: load them again, and repeat the transaction.").ToString();
    }

    private static string Describe(in ConcurrencyViolation violation)
    {
        string thing = violation.IsDocument ? "document" : "compare-exchange value";
        string number = violation.IsDocument ? "etag" : "index";
        string actual = violation.Actual == 0 ? "does not exist" : $"has the {number} {violation.Actual}";
        string expected =
            violation.Expected == 0 ? "not to exist"
            : violation.Expected < 0 ? "to have a change vector that is not one of this server"
            : violation.Expected == violation.Actual ? "to have that of another history of the database"
            : $"to have the {number} {violation.Expected}";
        return $"{thing} {violation.Id} {actual}, but was expected {expected}";
    }
}

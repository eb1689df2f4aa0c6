using Rookery.Documents.Consensus;

namespace Rookery.Redis.Connections;

/// <summary>
/// Rejections of commands as errors of Redis: its codes, by which clients decide, with this server's sentence.
/// </summary>
internal static class RejectionText
{
    /// <summary>Returns code and sentence.</summary>
    public static string Of(Rejection rejection) => $"{CodeOf(rejection.Kind)} {rejection.Message}";

    private static string CodeOf(RejectionKind kind) =>
        kind switch
        {
            RejectionKind.NoLeader => "CLUSTERDOWN",
            RejectionKind.InsufficientSpace => "OOM",
            RejectionKind.Overloaded => "TRYAGAIN",
            RejectionKind.Diagnosis or RejectionKind.Damaged => "MISCONF",
            RejectionKind.OutcomeUnknown => "UNKNOWNOUTCOME",
            _ => "ERR",
        };
}

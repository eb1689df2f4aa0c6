using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven;

/// <summary>Proposes what requests write. Every write over HTTP comes this way.</summary>
internal static class HttpProposal
{
    /// <summary>Proposes the command of a request, and sets the headers of its answer that it asked for.</summary>
    /// <param name="context">The node.</param>
    /// <param name="http">The request.</param>
    /// <param name="command">The command, which is disposed.</param>
    /// <returns>What came of it: also a refusal is one.</returns>
    public static ValueTask<CommandOutcome> ProposeAsync(ServerContext context, HttpContext http, CommandBuffer command)
    {
        var consensus = context.Node.Consensus;
        return ReceiptHeader.IsAskedFor(http)
            ? ProposeForReceiptAsync(consensus, http, command)
            : consensus.ProposeAsync(command, CancellationToken.None);
    }

    private static async ValueTask<CommandOutcome> ProposeForReceiptAsync(
        IConsensus consensus,
        HttpContext http,
        CommandBuffer command
    )
    {
        command.WantsReceipt = true;
        var outcome = await consensus.ProposeAsync(command, CancellationToken.None);
        ReceiptHeader.Set(http, outcome);
        return outcome;
    }
}

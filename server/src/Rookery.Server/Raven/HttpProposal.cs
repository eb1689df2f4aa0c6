using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Raven;

/// <summary>Proposes the commands of HTTP requests. Every write over HTTP uses this class.</summary>
internal static class HttpProposal
{
    /// <summary>Proposes a command, and sets the receipt header of the response if the request asks for it.</summary>
    /// <param name="context">The node.</param>
    /// <param name="http">The request.</param>
    /// <param name="command">The command; consensus disposes it.</param>
    /// <returns>The outcome, which may be a rejection.</returns>
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

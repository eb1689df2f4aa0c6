using Rookery.Cluster.Identity;

namespace Rookery.Access;

/// <summary>Turns what is wrong with a node's identity into a sentence and a code.</summary>
internal static class IdentityGuard
{
    /// <summary>Runs <paramref name="work"/>.</summary>
    public static Task<int> GuardAsync(Func<Task<int>> work) => Refusal.GuardAsync(async () =>
    {
        try
        {
            return await work();
        }
        catch (IdentityException wrong)
        {
            return await Refusal.WriteAsync(wrong.Message, ExitCode.Configuration);
        }
    });
}

using System.Runtime.ExceptionServices;

namespace Rookery.Fixtures;

/// <summary>Runs code on a thread with a stack smaller than that of any platform.</summary>
public static class SmallStackThread
{
    private const int Bytes = 1 << 20;

    /// <summary>Runs an action and throws its exception. An overflow of the stack ends the process.</summary>
    public static void Run(Action action)
    {
        ExceptionDispatchInfo? failure = null;
        var thread = new Thread(
            () =>
            {
                try
                {
                    action();
                }
                catch (Exception thrown)
                {
                    failure = ExceptionDispatchInfo.Capture(thrown);
                }
            },
            Bytes
        );
        thread.Start();
        thread.Join();
        failure?.Throw();
    }
}

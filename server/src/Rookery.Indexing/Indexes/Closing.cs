using System.Runtime.ExceptionServices;

namespace Rookery.Indexing.Indexes;

/// <summary>Closes several objects. If closing one fails, the others are still closed.</summary>
internal static class Closing
{
    /// <summary>Closes each.</summary>
    /// <remarks>Throws the first failure after all were tried.</remarks>
    public static void Each<T>(IEnumerable<T> all, Action<T> close)
    {
        ExceptionDispatchInfo? first = null;
        foreach (var one in all)
        {
            try
            {
                close(one);
            }
            catch (Exception failure)
            {
                first ??= ExceptionDispatchInfo.Capture(failure);
            }
        }

        first?.Throw();
    }
}

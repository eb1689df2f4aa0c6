using System.Runtime.ExceptionServices;

namespace Rookery.Indexing.Indexes;

/// <summary>Closes several objects. If closing one fails, the others are still closed.</summary>
internal static class Closing
{
    /// <summary>Closes each object.</summary>
    /// <remarks>
    /// Tries to close all objects. Then throws the only failure, or an <see cref="AggregateException"/> of several.
    /// </remarks>
    public static void Each<T>(IEnumerable<T> all, Action<T> close)
    {
        List<Exception> failures = [];
        foreach (var one in all)
        {
            try
            {
                close(one);
            }
            catch (AggregateException several)
            {
                failures.AddRange(several.InnerExceptions);
            }
            catch (Exception failure)
            {
                failures.Add(failure);
            }
        }

        if (failures is [var only])
        {
            ExceptionDispatchInfo.Throw(only);
        }

        if (failures.Count > 0)
        {
            throw new AggregateException(failures);
        }
    }
}
